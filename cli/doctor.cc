// convgrad doctor: what this machine and this build are, for a bug report.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/engines.h"
#include "convgrad/plan.h"
#include "convgrad/system.h"

namespace convgrad::cli {
namespace {

Json doctor_json(const SystemInfo& system) {
  return {{"version", system.version}, {"compiler", system.compiler}, {"cpu", system.cpu},
          {"cores", system.cores},     {"features", system.features}, {"isa", cpu_isa()},
          {"engines", engines_json()}};
}

}  // namespace

int doctor_command(const DoctorRequest& request) {
  const SystemInfo system = system_info();
  if (request.json) {
    print_json(doctor_json(system));
    return kOk;
  }
  fmt::print("convgrad   {}\ncompiler   {}\ncpu        {}\ncores      {}\nfeatures   {}\nisa        {}\nengines\n",
             system.version, system.compiler, system.cpu, system.cores, fmt::join(system.features, " "), cpu_isa());
  for (const EngineInfo& engine : all_engines()) {
    fmt::print("  {:<12} {}\n", engine.name, engine.description);
    if (!engine.obstacle.empty()) fmt::print("  {:<12} cannot run here: {}\n", "", engine.obstacle);
  }
  return kOk;
}

}  // namespace convgrad::cli

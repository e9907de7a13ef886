#include "settings.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>

#include "arguments.h"
#include "convgrad/geometry.h"
#include "convgrad/system.h"
#include "convgrad/version.h"
#include "errors.h"

namespace nb = nanobind;

namespace convgrad::python {
namespace {

std::atomic<int> threads = 0;

nb::dict config() {
  const SystemInfo system = system_info();
  nb::dict facts, engines, obstacles;
  facts["version"] = system.version;
  facts["compiler"] = system.compiler;
  facts["cpu"] = system.cpu;
  facts["features"] = system.features;
  facts["instruction set"] = cpu_isa();
  facts["cores"] = system.cores;
  facts["threads"] = threads.load();
  for (const EngineInfo& engine : all_engines()) {
    if (engine.obstacle.empty()) {
      engines[engine.name.c_str()] = engine.description;
    } else {
      obstacles[engine.name.c_str()] = engine.obstacle;
    }
  }
  facts["engines"] = engines;
  facts["cannot run here"] = obstacles;
  return facts;
}

}  // namespace

Policy current_policy(const Place& place) {
  Policy policy;
  policy.threads = threads.load(std::memory_order_relaxed);
  policy.place = place;
  return policy;
}

void bind_settings(nb::module_& module) {
  module.def("version", [] { return CONVGRAD_VERSION_STRING; });
  module.def(
      "set_num_threads",
      [](nb::handle given) {
        const std::int64_t count = integer_from(given, "threads");
        if (count < 0 || count > kMaxThreads)
          raise(wrong_type("threads", std::to_string(count), "a number from 0 to " + std::to_string(kMaxThreads)));
        threads = static_cast<int>(count);
      },
      nb::arg("threads").none(), nb::sig("def set_num_threads(threads: int) -> None"),
      "Threads of the calls that follow; 0: one a core that this process may use.");
  module.def("get_num_threads", [] { return threads.load(); }, "What set_num_threads() last got.");
  module.def("config", config, nb::sig("def config() -> dict[str, typing.Any]"),
             "What convgrad is and what it found here.");
}

}  // namespace convgrad::python

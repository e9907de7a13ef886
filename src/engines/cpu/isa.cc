#include "engines/cpu/isa.h"

#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "convgrad/system.h"

namespace convgrad::cpu {

#define CONVGRAD_CPU_ISA(name, needs) Kernels kernels_##name();
#include "engines/cpu/isas.inc"
#undef CONVGRAD_CPU_ISA

namespace {

std::vector<Kernels> probe() {
  std::vector<Kernels> all;
#define CONVGRAD_CPU_ISA(name, needs) \
  if (needs) all.push_back(kernels_##name());
#include "engines/cpu/isas.inc"
#undef CONVGRAD_CPU_ISA
  return all;
}

std::string_view wanted_isa() {
  const char* wanted = std::getenv("CONVGRAD_ISA");
  return wanted == nullptr ? "" : wanted;
}

const Kernels* choose() {
  for (const Kernels& kernels : runnable_kernels()) {
    if (wanted_isa().empty() || kernels.isa == wanted_isa()) return &kernels;
  }
  return nullptr;
}

}  // namespace

std::span<const Kernels> runnable_kernels() {
  static const std::vector<Kernels> all = probe();
  return all;
}

const Kernels* chosen_kernels() {
  static const Kernels* const chosen = choose();
  return chosen;
}

std::string isa_objection() {
  if (chosen_kernels() != nullptr) return {};
  std::string names;
  for (const Kernels& kernels : runnable_kernels()) names += concat(names.empty() ? "" : ", ", kernels.isa);
  return concat("the environment variable CONVGRAD_ISA is \"", wanted_isa().substr(0, 40),
                "\", and this CPU has: ", names);
}

}  // namespace convgrad::cpu

namespace convgrad {

std::string cpu_isa() {
  const cpu::Kernels* kernels = cpu::chosen_kernels();
  return kernels == nullptr ? std::string() : std::string(kernels->isa);
}

}  // namespace convgrad

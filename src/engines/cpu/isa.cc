#include "engines/cpu/isa.h"

#include <cstdlib>
#include <string_view>
#include <vector>

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

const Kernels* choose() {
  const std::span<const Kernels> all = runnable_kernels();
  const char* wanted = std::getenv("CONVGRAD_ISA");
  for (const Kernels& kernels : all) {
    if (wanted == nullptr || kernels.isa == wanted) return &kernels;
  }
  return all.empty() ? nullptr : &all.front();
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

}  // namespace convgrad::cpu

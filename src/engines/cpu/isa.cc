#include "engines/cpu/isa.h"

#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/machine.h"
#include "base/text.h"
#include "convgrad/system.h"

namespace convgrad::cpu {

#define CONVGRAD_CPU_ISA(name, needs) Kernels kernels_##name();
#include "engines/cpu/isas.inc"
#undef CONVGRAD_CPU_ISA
#define CONVGRAD_CPU_PAIRS(name, needs, gain, wins) PairKernels pairs_##name(double, bool);
#include "engines/cpu/pairs.inc"
#undef CONVGRAD_CPU_PAIRS

namespace {

std::vector<Kernels> probe() {
  std::vector<Kernels> all;
#define CONVGRAD_CPU_ISA(name, needs) \
  if (needs) all.push_back(kernels_##name());
#include "engines/cpu/isas.inc"
#undef CONVGRAD_CPU_ISA
  return all;
}

std::vector<PairKernels> probe_pairs() {
  std::vector<PairKernels> all;
#define CONVGRAD_CPU_PAIRS(name, needs, gain, wins) \
  if (needs) all.push_back(pairs_##name(gain, wins));
#include "engines/cpu/pairs.inc"
#undef CONVGRAD_CPU_PAIRS
  return all;
}

std::string_view wanted_isa() {
  const char* wanted = std::getenv("CONVGRAD_ISA");
  return wanted == nullptr ? "" : wanted;
}

const PairKernels* choose_pairs() {
  for (const PairKernels& pairs : runnable_pairs()) {
    if (wanted_isa().empty() ? pairs.wins : pairs.isa == wanted_isa()) return &pairs;
  }
  return nullptr;
}

const Kernels* choose() {
  const bool best = wanted_isa().empty() || chosen_pairs() != nullptr;
  for (const Kernels& kernels : runnable_kernels()) {
    if (best || kernels.isa == wanted_isa()) return &kernels;
  }
  return nullptr;
}

}  // namespace

std::span<const Kernels> runnable_kernels() {
  static const std::vector<Kernels> all = probe();
  return all;
}

std::span<const PairKernels> runnable_pairs() {
  static const std::vector<PairKernels> all = probe_pairs();
  return all;
}

const PairKernels* chosen_pairs() {
  static const PairKernels* const chosen = choose_pairs();
  return chosen;
}

const Kernels* chosen_kernels() {
  static const Kernels* const chosen = choose();
  return chosen;
}

std::string isa_obstacle() {
  return runnable_kernels().empty() ? "this CPU has none of the instruction sets that this build knows" : "";
}

std::string isa_objection() {
  if (chosen_kernels() != nullptr) return {};
  std::string names;
  for (const PairKernels& pairs : runnable_pairs()) names += concat(pairs.isa, ", ");
  for (const Kernels& kernels : runnable_kernels()) names += concat(kernels.isa, ", ");
  if (!names.empty()) names.resize(names.size() - 2);
  return concat("the environment variable CONVGRAD_ISA is \"", beginning(wanted_isa(), 40),
                "\", and this CPU has: ", names);
}

}  // namespace convgrad::cpu

namespace convgrad {

std::string cpu_isa() {
  const cpu::Kernels* kernels = cpu::chosen_kernels();
  const cpu::PairKernels* pairs = cpu::chosen_pairs();
  if (kernels == nullptr) return {};
  return std::string(pairs == nullptr ? kernels->isa : pairs->isa);
}

}  // namespace convgrad

// Which instruction set runs: the best this CPU has, or the one that CONVGRAD_ISA names, of isas.inc or pairs.inc.
#pragma once

#include <span>
#include <string>

#include "engines/cpu/kernels/kernels.h"
#include "engines/cpu/kernels/pairs/pairs.h"

namespace convgrad::cpu {

// Every instruction set of isas.inc that this CPU can run, best first. Never empty on a supported CPU.
std::span<const Kernels> runnable_kernels();

// Every row of pairs.inc that this CPU can run, best first.
std::span<const PairKernels> runnable_pairs();

// Null where CONVGRAD_ISA names no row of either list that can run. The best where it names pairs.
const Kernels* chosen_kernels();

// Null where CONVGRAD_ISA names an instruction set of isas.inc, or where none wins on this CPU.
const PairKernels* chosen_pairs();

// Why there are none, in words; empty when there are: on any CPU of this kind, and by the environment variable.
std::string isa_obstacle();
std::string isa_objection();

}  // namespace convgrad::cpu

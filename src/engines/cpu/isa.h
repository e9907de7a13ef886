// Which instruction set runs: the best this CPU has, or the lower one that CONVGRAD_ISA names.
#pragma once

#include <span>
#include <string>

#include "engines/cpu/kernels/kernels.h"

namespace convgrad::cpu {

// Every instruction set of isas.inc that this CPU can run, best first. Never empty on a supported CPU.
std::span<const Kernels> runnable_kernels();

// Null where CONVGRAD_ISA names none of them.
const Kernels* chosen_kernels();

// Why there are none, in words; empty when there are.
std::string isa_objection();

}  // namespace convgrad::cpu

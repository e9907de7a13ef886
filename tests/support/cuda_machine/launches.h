// Launches of the CUDA engine, run on the host machine.
#pragma once

#include <string>

#include "engines/cuda/launch.h"
#include "support/cuda_machine/machine.h"

namespace convgrad::cuda {

// A kernel with its arguments where the device would have them, maps included. Empty, or what went wrong.
std::string run_kernel(Kernel kernel, const Grid& grid, const void* args);

// All of them, one after another; boxes become maps.
std::string run_launches(const std::vector<Launch>& launches, std::uint64_t seed);

}  // namespace convgrad::cuda

// NVIDIA's driver, loaded when it is first needed: one binary runs with and without a GPU. The environment variable
// CONVGRAD_CUDA_DRIVER names another library than libcuda.so.1.
#pragma once

#include <source_location>

#include "convgrad/status.h"
#include "engines/cuda/runtime/driver_types.h"

namespace convgrad::cuda {

struct Driver {
#define CONVGRAD_CUDA_FUNCTION(name, ...) CUresult (*name)(__VA_ARGS__) = nullptr;
#include "engines/cuda/runtime/driver.inc"
#undef CONVGRAD_CUDA_FUNCTION
};

// Loaded and initialised, for ever. A failure is not remembered: the next call tries again. Nobody waits for a lock, so
// that a child process cannot inherit a taken one; a child of a process that used the driver is refused.
Result<const Driver*> driver();

// A driver's answer as a Status that names the call and its place; out of memory is resource_exhausted.
Status answer(const Driver& driver, CUresult result, const char* call,
              std::source_location where = std::source_location::current());
#define CONVGRAD_CUDA(driver, call) ::convgrad::cuda::answer((driver), (driver).call, #call)

}  // namespace convgrad::cuda

// The kernels of a group as functions of an image.
#include "engines/cuda/kernels/list.h"

namespace convgrad::cuda {

#define CONVGRAD_CUDA_KERNEL(group, name, ...)                            \
  extern "C" __global__ void __launch_bounds__((__VA_ARGS__::Threads), 1) \
      name(const __grid_constant__ typename __VA_ARGS__::Args args) {     \
    __VA_ARGS__::run(args);                                               \
  }
#include "engines/cuda/kernels.inc"
#undef CONVGRAD_CUDA_KERNEL

}  // namespace convgrad::cuda

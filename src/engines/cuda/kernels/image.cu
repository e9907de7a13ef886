// The kernels of a group as functions of an image.
#include "engines/cuda/kernels/list.h"

namespace convgrad::cuda {

// Blocks that a multiprocessor has registers for: 1, or what the kernel asks for.
template <class Kernel>
constexpr int blocks_at_once() {
  if constexpr (requires { Kernel::BlocksAtOnce; })
    return Kernel::BlocksAtOnce;
  else
    return 1;
}

#define CONVGRAD_CUDA_KERNEL(group, name, ...)                                                          \
  extern "C" __global__ void __launch_bounds__((__VA_ARGS__::Threads), (blocks_at_once<__VA_ARGS__>())) \
      name(const __grid_constant__ typename __VA_ARGS__::Args args) {                                   \
    __VA_ARGS__::run(args);                                                                             \
  }
#include "engines/cuda/kernels.inc"
#undef CONVGRAD_CUDA_KERNEL

}  // namespace convgrad::cuda

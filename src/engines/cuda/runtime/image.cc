#include "engines/cuda/runtime/image.h"

// cuda_images.inc is made by cmake/cuda.cmake: CONVGRAD_CUDA_IMAGE(group, file), a row for each group of kernels.
#define CONVGRAD_CUDA_IMAGE(group, file)                                                           \
  asm(".section .rodata,\"a\"\n"                                                                   \
      ".balign 64\n"                                                                               \
      ".globl cuda_image_" #group "\n.hidden cuda_image_" #group                                   \
      "\n"                                                                                         \
      ".globl cuda_image_" #group "_end\n.hidden cuda_image_" #group                               \
      "_end\n"                                                                                     \
      "cuda_image_" #group ":\n.incbin \"" file "\"\ncuda_image_" #group "_end:\n.byte 0\n.text"); \
  extern "C" const std::byte cuda_image_##group[], cuda_image_##group##_end[];
#include "cuda_images.inc"
#undef CONVGRAD_CUDA_IMAGE

namespace convgrad::cuda {

bool has_images() {
#define CONVGRAD_CUDA_IMAGE(group, file) return true;
#include "cuda_images.inc"
#undef CONVGRAD_CUDA_IMAGE
  return false;
}

std::span<const std::byte> image([[maybe_unused]] std::string_view group) {
#define CONVGRAD_CUDA_IMAGE(row, file) \
  if (group == #row) return {cuda_image_##row, cuda_image_##row##_end};
#include "cuda_images.inc"
#undef CONVGRAD_CUDA_IMAGE
  return {};
}

}  // namespace convgrad::cuda

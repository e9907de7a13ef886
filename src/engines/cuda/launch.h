// What the engine asks of a device, as plain data: kernels with their arguments, in order. The driver of a GPU takes
// them (runtime/), and so does the host machine of the tests.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "engines/cuda/kernels/args.h"

namespace convgrad::cuda {

enum class Kernel : int {
#define CONVGRAD_CUDA_KERNEL(group, name, ...) name,
#include "engines/cuda/kernels.inc"
#undef CONVGRAD_CUDA_KERNEL
};

// Of a convolution's kernel: its tile, the terms of a step, and what it needs of shared memory.
struct TileInfo {
  int rows = 0, columns = 0, terms = 0;
  int row_bytes = 0;  // of operands in shared memory
  unsigned stage_bytes = 0, tile_bytes = 0;
  unsigned (*shared_bytes)(const ConvArgs&) = nullptr;
};

struct KernelInfo {
  std::string_view group;  // the image it is in
  std::string_view name;   // of the function there
  int threads;             // in a block
  unsigned shared_bytes;   // where they are the same for all arguments; else tile has them
  TileInfo tile;
};
std::span<const KernelInfo> all_kernels();
inline const KernelInfo& info(Kernel kernel) { return all_kernels()[static_cast<std::size_t>(kernel)]; }

// Every kernel takes one struct, by value.
using KernelArgs =
    std::variant<ConvArgs, DirectArgs, StripArgs, RepackArgs, FoldArgs, UnfoldArgs, ReduceArgs, BiasArgs>;

struct Launch {
  Kernel kernel;
  unsigned blocks;
  unsigned shared_bytes;
  KernelArgs args;
  std::vector<Box> boxes;  // the runtime turns them into ConvArgs::maps, in order
};

}  // namespace convgrad::cuda

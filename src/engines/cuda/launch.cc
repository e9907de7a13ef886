// The table of kernels.
#include "engines/cuda/launch.h"

#include "engines/cuda/kernels/list.h"

namespace convgrad::cuda {
namespace {

template <class S, template <class> class Loader, class Tile>
KernelInfo described(std::string_view group, std::string_view name, const Convolve<S, Loader, Tile>*) {
  return {group,
          name,
          S::Threads,
          0,
          {S::Rows, S::Columns, S::Terms, S::RowBytes, S::stage_bytes, S::tile_bytes, &S::shared_bytes}};
}

template <class S>
KernelInfo described(std::string_view group, std::string_view name, const HaloConvolve<S>*) {
  return {
      group, name, S::Threads, 0, {S::Rows, S::Columns, S::Terms, S::RowBytes, 0, 0, &HaloConvolve<S>::shared_bytes}};
}

// Its rows are those of a block, all tiles together.
template <class S>
KernelInfo described(std::string_view group, std::string_view name, const HaloFilter<S>*) {
  return {group,
          name,
          S::Threads,
          0,
          {S::BlockTiles * S::Rows, S::Columns, S::Terms, S::RowBytes, 0, 0, &HaloFilter<S>::shared_bytes}};
}

template <class Sums>
KernelInfo described(std::string_view group, std::string_view name, const Sums*) {
  return {group, name, Sums::Threads, Sums::kSharedBytes, {}};
}

}  // namespace

std::span<const KernelInfo> all_kernels() {
  static const KernelInfo rows[] = {
#define CONVGRAD_CUDA_KERNEL(group, name, ...) described(#group, #name, static_cast<const __VA_ARGS__*>(nullptr)),
#include "engines/cuda/kernels.inc"
#undef CONVGRAD_CUDA_KERNEL
  };
  return rows;
}

}  // namespace convgrad::cuda

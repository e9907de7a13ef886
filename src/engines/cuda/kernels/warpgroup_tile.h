// 16-bit operands, f32 sums, on Hopper's warpgroup products: 128 threads have 64 rows x all columns of the tile, and
// both operands are read from shared memory by descriptor.
#pragma once

#include "engines/cuda/kernels/shape.h"

namespace convgrad::cuda {

template <class S>
class WarpgroupTile {
 public:
  static_assert(S::Consumers / 128 * 64 == S::Rows, "warpgroups fill the tile");

  CONVGRAD_DEVICE explicit WarpgroupTile(int thread) : thread_(thread % 128), group_(thread / 128) {}

  // The first product of a chunk overwrites what the last chunk left.
  static constexpr bool kOverwrites = true;
  CONVGRAD_DEVICE void multiply_stage(unsigned stage, bool starts_chunk) {
    constexpr bool turn_field = S::field_major == Major::across, turn_dense = S::dense_major == Major::across;
    const unsigned field = stage + static_cast<unsigned>(group_) * kHigh * S::RowBytes;
    warpgroup_fence();
    CONVGRAD_UNROLL
    for (unsigned term = 0; term < S::Terms; term += 16)
      warpgroup_multiply<typename S::Element::Tag, S::Columns, turn_field, turn_dense>(
          chunk_, described<turn_field>(field, term), described<turn_dense>(stage + S::dense_at, term),
          term > 0 || !starts_chunk);
    warpgroup_commit();
    warpgroup_wait<0>();
  }

  template <class Visit>
  CONVGRAD_DEVICE void each(const Visit& visit) {
    const int warp = thread_ / 32, lane = thread_ % 32;
    CONVGRAD_UNROLL
    for (int i = 0; i < S::Columns / 2; ++i)
      visit(kHigh * group_ + 16 * warp + lane / 4 + i / 2 % 2 * 8, i / 4 * 8 + 2 * (lane % 4) + i % 2, chunk_[i],
            block_[i]);
  }

 private:
  static constexpr unsigned kHigh = 64;

  // 16 terms of an operand. Along the sum they are 32 bytes of each row; 8 rows follow one another. Turned, they are 16
  // rows, and the columns that do not fit them lie a block further.
  template <bool turned>
  static CONVGRAD_DEVICE std::uint64_t described(unsigned operand, unsigned term) {
    return descriptor(operand + term * (turned ? S::RowBytes : 2u), turned ? S::Terms * S::RowBytes : 16,
                      8 * S::RowBytes, S::RowBytes);
  }

  int thread_, group_;
  float chunk_[S::Columns / 2] = {}, block_[S::Columns / 2] = {};
};

}  // namespace convgrad::cuda

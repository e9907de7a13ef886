// f64 sums on the tensor cores: a warp has 32 rows x Wide columns of the tile, as m16n8k4 products, which are chains of
// fused multiply-adds in the order of the terms (measured bitwise).
#pragma once

#include "engines/cuda/kernels/shape.h"

namespace convgrad::cuda {

// Which of 16 neighbours (m or n) element `index` of a fragment is. 8-byte loads go half a warp at a time: 4 indices x
// 4 terms, which must fall on 16 different places of a row of banks. Along the sum, 4 terms are 2 pieces of 16 bytes, so
// the 4 indices must differ in the upper bits of their row: rows 0, 2, 4, 6, then 1, 3, 5, 7. Across it, 4 terms are 4
// rows, whose swizzle differs in the lower two bits of the piece: the 4 indices are pairs in pieces 4 apart.
template <Major major>
CONVGRAD_BOTH int f64_neighbour(int index) {
  if (major == Major::along_sum) return (index & 8) | (index & 3) << 1 | (index >> 2 & 1);
  return (index & 1) | (index >> 2 & 1) << 1 | (index >> 3 & 1) << 2 | (index >> 1 & 1) << 3;
}

template <class S, int Wide>
class F64Tile {
 public:
  static constexpr int High = 32;
  static_assert(S::Consumers / 32 * High * Wide == S::Rows * S::Columns, "warps fill the tile");

  CONVGRAD_DEVICE explicit F64Tile(int thread)
      : lane_(thread % 32), row0_(thread / 32 % kWarpRows * High), column0_(thread / 32 / kWarpRows * Wide) {}

  static constexpr bool kOverwrites = false;
  CONVGRAD_DEVICE void multiply_stage(unsigned stage, bool) {
    CONVGRAD_UNROLL
    for (int term = 0; term < S::Terms; term += 4) {
      double a[kM][2], b[kN][1];
      CONVGRAD_UNROLL
      for (int i = 0; i < kM; ++i)
        CONVGRAD_UNROLL
        for (int half = 0; half < 2; ++half)
          a[i][half] = shared<const double>(stage + S::Stage::template at<S::field_major>(
                                                  row0_ + 16 * i + f64_neighbour<S::field_major>(lane_ / 4 + 8 * half),
                                                  term + lane_ % 4));
      CONVGRAD_UNROLL
      for (int j = 0; j < kN; ++j)
        b[j][0] = shared<const double>(stage + S::dense_at +
                                 S::Stage::template at<S::dense_major>(
                                     column0_ + column_of(j, lane_ / 4), term + lane_ % 4));
      CONVGRAD_UNROLL
      for (int i = 0; i < kM; ++i)
        CONVGRAD_UNROLL
        for (int j = 0; j < kN; ++j) multiply(chunk_[i][j], a[i], b[j]);
    }
  }

  // visit(row, column, sum of the terms since the last fold, sum of folds).
  template <class Visit>
  CONVGRAD_DEVICE void each(const Visit& visit) {
    CONVGRAD_UNROLL
    for (int i = 0; i < kM; ++i)
      CONVGRAD_UNROLL
      for (int j = 0; j < kN; ++j)
        CONVGRAD_UNROLL
        for (int e = 0; e < 4; ++e)
          visit(row0_ + 16 * i + f64_neighbour<S::field_major>(lane_ / 4 + 8 * (e / 2)),
                column0_ + column_of(j, 2 * (lane_ % 4) + e % 2), chunk_[i][j][e], block_[i][j][e]);
  }

 private:
  static constexpr int kM = High / 16, kN = Wide / 8, kWarpRows = S::Rows / High;

  // A fragment has 8 columns: half of 16 neighbours, or, in tiles of 8 columns, all of them in their order.
  static CONVGRAD_BOTH int column_of(int fragment, int index) {
    if (Wide == 8) return index;
    return fragment / 2 * 16 + f64_neighbour<S::dense_major>(index + fragment % 2 * 8);
  }

  int lane_, row0_, column0_;
  double chunk_[kM][kN][4] = {}, block_[kM][kN][4] = {};
};

}  // namespace convgrad::cuda

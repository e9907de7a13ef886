// f64 sums on the tensor cores: a warp has 32 rows x Wide columns of the tile, as m16n8k4 products, which are chains of
// fused multiply-adds in the order of the terms (measured bitwise).
#pragma once

#include "engines/cuda/kernels/fragments.h"
#include "engines/cuda/kernels/shape.h"

namespace convgrad::cuda {

// Which of 16 neighbours (m or n) element `index` of a fragment is. 8-byte loads go half a warp at a time: 4 indices x
// 4 terms, which must fall on 16 different places of a row of banks. Along the sum, 4 terms are 2 pieces of 16 bytes,
// so the 4 indices must differ in the upper bits of their row: rows 0, 2, 4, 6, then 1, 3, 5, 7. Across it, 4 terms are
// 4 rows, whose swizzle differs in the lower two bits of the piece: the 4 indices are pairs in pieces 4 apart.
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
    CONVGRAD_UNROLL_TWICE
    for (int first = 0; first < S::Terms; first += 4) {
      const int term = first + lane_ % 4;
      double a[kM][2], b[kN][1];
      unrolled<kM>([&](int i) {
        unrolled<2>([&](int half) {
          a[i][half] = shared<const double>(
              stage + S::Stage::template at<S::field_major>(row_of(i, lane_ / 4 + 8 * half), term));
        });
      });
      unrolled<kN>([&](int j) {
        b[j][0] = shared<const double>(stage + S::dense_at +
                                       S::Stage::template at<S::dense_major>(column_of(j, lane_ / 4), term));
      });
      unrolled<kM>([&](int i) { unrolled<kN>([&](int j) { multiply(sums_.chunk[i][j], a[i], b[j]); }); });
    }
  }

  template <class Visit>
  CONVGRAD_DEVICE void each(const Visit& visit) {
    sums_.each(
        lane_, [&](int i, int index) { return row_of(i, index); },
        [&](int j, int index) { return column_of(j, index); }, visit);
  }

 private:
  static constexpr int kM = High / 16, kN = Wide / 8, kWarpRows = S::Rows / High;

  CONVGRAD_BOTH int row_of(int fragment, int index) const {
    return row0_ + 16 * fragment + f64_neighbour<S::field_major>(index);
  }
  // A fragment has 8 columns: half of 16 neighbours, or, in tiles of 8 columns, all of them in their order.
  CONVGRAD_BOTH int column_of(int fragment, int index) const {
    if (Wide == 8) return column0_ + index;
    return column0_ + fragment / 2 * 16 + f64_neighbour<S::dense_major>(index + fragment % 2 * 8);
  }

  int lane_, row0_, column0_;
  Fragments<double, kM, kN> sums_;
};

}  // namespace convgrad::cuda

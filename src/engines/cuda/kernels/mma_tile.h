// 16-bit operands, f32 sums, on the tensor cores of any GPU since 2020: a warp has High rows x Wide columns of the tile
// as m16n8k16 products.
#pragma once

#include "engines/cuda/kernels/shape.h"

namespace convgrad::cuda {

template <class S, int High, int Wide>
class MmaTile {
 public:
  static_assert(S::Consumers / 32 * High * Wide == S::Rows * S::Columns, "warps fill the tile");
  static_assert(Wide % 16 == 0, "two fragments of the dense operand a load");

  CONVGRAD_DEVICE explicit MmaTile(int thread)
      : lane_(thread % 32), row0_(thread / 32 % kWarpRows * High), column0_(thread / 32 / kWarpRows * Wide) {}

  static constexpr bool kOverwrites = false;
  CONVGRAD_DEVICE void multiply_stage(unsigned stage, bool) {
    CONVGRAD_UNROLL
    for (int term = 0; term < S::Terms; term += 16) {
      std::uint32_t a[kM][4], b[kN / 2][4];
      CONVGRAD_UNROLL
      for (int i = 0; i < kM; ++i) load_field(a[i], stage, row0_ + 16 * i, term);
      CONVGRAD_UNROLL
      for (int j = 0; j < kN / 2; ++j) load_dense(b[j], stage + S::dense_at, column0_ + 16 * j, term);
      CONVGRAD_UNROLL
      for (int i = 0; i < kM; ++i)
        CONVGRAD_UNROLL
        for (int j = 0; j < kN; ++j) {
          const std::uint32_t pair[2] = {b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]};
          multiply<typename S::Element::Tag>(chunk_[i][j], a[i], pair);
        }
    }
  }

  template <class Visit>
  CONVGRAD_DEVICE void each(const Visit& visit) {
    CONVGRAD_UNROLL
    for (int i = 0; i < kM; ++i)
      CONVGRAD_UNROLL
      for (int j = 0; j < kN; ++j)
        CONVGRAD_UNROLL
        for (int e = 0; e < 4; ++e)
          visit(row0_ + 16 * i + lane_ / 4 + 8 * (e / 2), column0_ + 8 * j + 2 * (lane_ % 4) + e % 2, chunk_[i][j][e],
                block_[i][j][e]);
  }

 private:
  static constexpr int kM = High / 16, kN = Wide / 8, kWarpRows = S::Rows / High;

  // A load brings four matrices of 8 x 8; lane l gives the address of row l % 8 of matrix l / 8. The field's are
  // (rows, terms) = (0, 0), (8, 0), (0, 8), (8, 8); the dense operand's (0, 0), (0, 8), (8, 0), (8, 8). A matrix whose
  // stored rows are terms is turned on the way.
  CONVGRAD_DEVICE void load_field(std::uint32_t (&to)[4], unsigned operand, int row, int term) const {
    const int matrix = lane_ / 8, inner = lane_ % 8;
    row += matrix % 2 * 8;
    term += matrix / 2 * 8;
    load<S::field_major>(to, operand, row, term, inner);
  }
  CONVGRAD_DEVICE void load_dense(std::uint32_t (&to)[4], unsigned operand, int column, int term) const {
    const int matrix = lane_ / 8, inner = lane_ % 8;
    column += matrix / 2 * 8;
    term += matrix % 2 * 8;
    load<S::dense_major>(to, operand, column, term, inner);
  }
  template <Major major>
  static CONVGRAD_DEVICE void load(std::uint32_t (&to)[4], unsigned operand, int index, int term, int inner) {
    constexpr bool turned = major == Major::across;
    load_matrices<turned>(to, operand + S::Stage::template at<major>(index + (turned ? 0 : inner),
                                                                             term + (turned ? inner : 0)));
  }

  int lane_, row0_, column0_;
  float chunk_[kM][kN][4] = {}, block_[kM][kN][4] = {};
};

}  // namespace convgrad::cuda

// f32 and i32 sums by fused multiply-adds: each thread has High rows x Wide columns of the tile.
#pragma once

#include "engines/cuda/kernels/shape.h"

namespace convgrad::cuda {

// Index `i` of thread `t` of Threads along an axis. Along the sum neighbouring threads read neighbouring rows (their
// pieces lie on different banks); across it 4 neighbours are one 16-byte load.
template <Major major, int Threads>
CONVGRAD_BOTH int fma_index(int t, int i) {
  return major == Major::along_sum ? t + Threads * i : i / 4 * (4 * Threads) + 4 * t + i % 4;
}

template <class S, int High, int Wide>
class FmaTile {
 public:
  static_assert(S::Consumers * High * Wide == S::Rows * S::Columns, "threads fill the tile");
  static_assert(S::field_major == Major::along_sum || High % 4 == 0, "16-byte loads");
  static_assert(S::dense_major == Major::along_sum || Wide % 4 == 0, "16-byte loads");

  CONVGRAD_DEVICE explicit FmaTile(int thread) : row_(thread / kAcross), column_(thread % kAcross) {}

  static constexpr bool kOverwrites = false;
  CONVGRAD_DEVICE void multiply_stage(unsigned stage, bool) {
    for (int term = 0; term < S::Terms; term += 4) {
      Four a[High], b[Wide];
      load<S::field_major, kDown>(a, stage, row_, term);
      load<S::dense_major, kAcross>(b, stage + S::dense_at, column_, term);
      CONVGRAD_UNROLL
      for (int k = 0; k < 4; ++k)
        CONVGRAD_UNROLL
        for (int i = 0; i < High; ++i)
          CONVGRAD_UNROLL
          for (int j = 0; j < Wide; ++j) chunk_[i][j] = multiply_add(a[i].at[k], b[j].at[k], chunk_[i][j]);
    }
  }

  template <class Visit>
  CONVGRAD_DEVICE void each(const Visit& visit) {
    CONVGRAD_UNROLL
    for (int i = 0; i < High; ++i)
      CONVGRAD_UNROLL
      for (int j = 0; j < Wide; ++j)
        visit(fma_index<S::field_major, kDown>(row_, i), fma_index<S::dense_major, kAcross>(column_, j), chunk_[i][j],
              block_[i][j]);
  }

 private:
  using Stored = typename S::Element::Stored;
  using Sum = typename S::Sum;
  static constexpr int kDown = S::Rows / High, kAcross = S::Columns / Wide;  // threads along the axes
  struct alignas(16) Four {
    Stored at[4];
  };

  // The four terms from `term` on of every index of thread t.
  template <Major major, int Threads, int Count>
  static CONVGRAD_DEVICE void load(Four (&to)[Count], unsigned operand, int t, int term) {
    if constexpr (major == Major::along_sum) {
      CONVGRAD_UNROLL
      for (int i = 0; i < Count; ++i)
        to[i] = shared<const Four>(operand + S::Stage::template at<major>(fma_index<major, Threads>(t, i), term));
    } else {
      CONVGRAD_UNROLL
      for (int k = 0; k < 4; ++k)
        CONVGRAD_UNROLL
        for (int i = 0; i < Count; i += 4) {
          const Four four =
              shared<const Four>(operand + S::Stage::template at<major>(fma_index<major, Threads>(t, i), term + k));
          CONVGRAD_UNROLL
          for (int e = 0; e < 4; ++e) to[i + e].at[k] = four.at[e];
        }
    }
  }

  int row_, column_;
  Sum chunk_[High][Wide] = {}, block_[High][Wide] = {};
};

}  // namespace convgrad::cuda

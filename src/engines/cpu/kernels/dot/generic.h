// The algorithm of dot.h, once, for any vector width.
#pragma once

#include <utility>

#include "engines/cpu/kernels/dot/dot.h"
#include "engines/cpu/simd/simd.h"

namespace convgrad::cpu::HWY_NAMESPACE {
namespace {

// Rows of a tile: as many as leave the accumulators in registers.
template <int kCols>
constexpr int dot_rows() {
  constexpr int kBudget = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64 ? 24 : 10;
  constexpr int kRows = kBudget / kCols;
  return kRows >= 8 ? 8 : kRows >= 4 ? 4 : kRows >= 2 ? 2 : 1;
}

template <class T, int kRows, int kCols>
struct DotTile {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr int kLanes = kLanesOf<T>;
  static constexpr int kParts = kVirtualLanes<T> / kLanes;  // vectors that hold the virtual lanes

  // Lanes [part * kLanes, ...) of one chunk of runs, added into totals.
  static HWY_INLINE const Run* chunk(const DotArgs<T>& t, const T* a, const Run* run, int part, T* totals) {
    V sums[kRows][kCols];
#pragma GCC unroll 16
    for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 16
      for (int n = 0; n < kCols; ++n) sums[m][n] = hn::Zero(D());
    }
    for (;; ++run) {
      const T* left = a + run->a;
      const T* right = t.b + run->b * t.b_unit;
      for (std::int64_t k = part * kLanes; k < run->length; k += kVirtualLanes<T>) {
        const FirstLanes<T> lanes(run->length - k);
        V b[kCols];
#pragma GCC unroll 16
        for (int n = 0; n < kCols; ++n) b[n] = lanes.load(right + n * t.b_col + k);
#pragma GCC unroll 16
        for (int m = 0; m < kRows; ++m) {
          const V one = lanes.load(left + m * t.a_row + k);
#pragma GCC unroll 16
          for (int n = 0; n < kCols; ++n) sums[m][n] = multiply_add(one, b[n], sums[m][n]);
        }
      }
      if (run->closes) break;
    }
#pragma GCC unroll 16
    for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 16
      for (int n = 0; n < kCols; ++n) {
        T* total = totals + (m * kCols + n) * kVirtualLanes<T> + part * kLanes;
        hn::Store(hn::Add(hn::Load(D(), total), sums[m][n]), D(), total);
      }
    }
    return run + 1;
  }

  // The lanes of one sum, by halves.
  static HWY_INLINE T total_of(T* lanes) {
    for (int width = kVirtualLanes<T> / 2; width > 0; width /= 2) {
      for (int l = 0; l < width; ++l) lanes[l] = lanes[l] + lanes[l + width];
    }
    return lanes[0];
  }

  static void run(const DotArgs<T>& t, const T* a, T* c) {
    HWY_ALIGN T totals[kRows * kCols * kVirtualLanes<T>];
    for (T& total : totals) total = T{};
    for (const Run* at = t.runs; at != t.runs + t.run_count;) {
      const Run* next = at;
      for (int part = 0; part < kParts; ++part) next = chunk(t, a, at, part, totals);
      at = next;
    }
#pragma GCC unroll 16
    for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 16
      for (int n = 0; n < kCols; ++n)
        c[m * t.c_row + n] = total_of(totals + (m * kCols + n) * kVirtualLanes<T>);
    }
  }
};

template <class T, int kCols>
void dot(const DotArgs<T>& t) {
  constexpr int kRows = dot_rows<kCols>();
  std::int64_t m = 0;
  for (; m + kRows <= t.rows; m += kRows) DotTile<T, kRows, kCols>::run(t, t.a + m * t.a_row, t.c + m * t.c_row);
  for (; m < t.rows; ++m) DotTile<T, 1, kCols>::run(t, t.a + m * t.a_row, t.c + m * t.c_row);
}

template <class T, int... kCol>
DotTable<T> dot_table(std::integer_sequence<int, kCol...>) {
  return {{dot<T, kCol + 1>...}};
}

template <class T>
DotTable<T> dot_table() {
  return dot_table<T>(std::make_integer_sequence<int, kMaxDotCols>());
}

}  // namespace
}  // namespace convgrad::cpu::HWY_NAMESPACE

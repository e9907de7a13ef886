// The algorithm of dot.h, once, for any vector width.
#pragma once

#include <utility>

#include "engines/cpu/kernels/dot/dot.h"
#include "engines/cpu/simd/simd.h"

namespace convgrad::cpu::HWY_NAMESPACE {
namespace {

// Rows of a tile: as many as leave the accumulators in registers.
template <class T, int kCols>
constexpr int dot_rows() {
  constexpr int kBudget = kRegisters == 32 ? 24 : 10;
  constexpr int kRows = kFewTiles || !std::is_floating_point_v<T> ? 1 : kBudget / kCols;
  return kRows >= 16 ? 16 : kRows >= 8 ? 8 : kRows >= 4 ? 4 : kRows >= 2 ? 2 : 1;
}

// All lanes of v, by halves.
template <class D, class V>
HWY_INLINE hn::TFromD<D> sum_by_halves(D d, V v) {
  if constexpr (hn::MaxLanes(d) == 1) {
    return hn::GetLane(v);
  } else {
    const hn::Half<D> half;
    return sum_by_halves(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

template <class T, int kRows, int kCols>
struct DotTile {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr int kLanes = kLanesOf<T>;
  static constexpr int kVirtual = kVirtualLanes<T>;
  static constexpr int kParts = kVirtual / kLanes;  // vectors that hold the virtual lanes

  V sums[kRows][kCols];

  template <class Load>
  HWY_INLINE void step(const DotArgs<T>& t, const T* left, const T* right, const Load& load) {
    V b[kCols];
#pragma GCC unroll 16
    for (int n = 0; n < kCols; ++n) b[n] = load(right + n * t.b_col);
#pragma GCC unroll 16
    for (int m = 0; m < kRows; ++m) {
      const V one = load(left + m * t.a_row);
#pragma GCC unroll 16
      for (int n = 0; n < kCols; ++n) sums[m][n] = multiply_add(one, b[n], sums[m][n]);
    }
  }

  HWY_INLINE void add_run(const DotArgs<T>& t, const T* a, const Run& run, int part) {
    const T* left = a + run.a;
    const T* right = t.b + run.b * t.b_unit;
    std::int64_t k = part * kLanes;
    for (; k + kLanes <= run.length; k += kVirtual)
      step(t, left + k, right + k, [](const T* from) HWY_ATTR { return hn::LoadU(D(), from); });
    if (k >= run.length) return;
    const FirstLanes<T> lanes(run.length - k);
    step(t, left + k, right + k, [&](const T* from) HWY_ATTR { return lanes.load(from); });
  }

  // Lanes [part * kLanes, ...) of one chunk of runs, added into totals. Returns the next chunk.
  static HWY_INLINE const Run* add_chunk(const DotArgs<T>& t, const T* a, const Run* run, int part, T* totals) {
    DotTile tile;
#pragma GCC unroll 16
    for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 16
      for (int n = 0; n < kCols; ++n) tile.sums[m][n] = hn::Zero(D());
    }
    do tile.add_run(t, a, *run, part);
    while (!(run++)->closes);
#pragma GCC unroll 16
    for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 16
      for (int n = 0; n < kCols; ++n) {
        T* total = totals + (m * kCols + n) * kVirtual + part * kLanes;
        hn::Store(hn::Add(hn::Load(D(), total), tile.sums[m][n]), D(), total);
      }
    }
    return run;
  }

  static HWY_INLINE T total_of(const T* totals) {
    V parts[kParts];
    for (int i = 0; i < kParts; ++i) parts[i] = hn::Load(D(), totals + i * kLanes);
    for (int count = kParts / 2; count > 0; count /= 2) {
      for (int i = 0; i < count; ++i) parts[i] = hn::Add(parts[i], parts[i + count]);
    }
    return sum_by_halves(D(), parts[0]);
  }

  static void run(const DotArgs<T>& t, const T* a, T* c) {
    HWY_ALIGN T totals[kRows * kCols * kVirtual];
    for (int i = 0; i < kRows * kCols * kVirtual; i += kLanes) hn::Store(hn::Zero(D()), D(), totals + i);
    for (const Run* at = t.runs; at != t.runs + t.run_count;) {
      const Run* next = at;
      for (int part = 0; part < kParts; ++part) next = add_chunk(t, a, at, part, totals);
      at = next;
    }
    for (int m = 0; m < kRows; ++m) {
      for (int n = 0; n < kCols; ++n) c[m * t.c_row + n] = total_of(totals + (m * kCols + n) * kVirtual);
    }
  }
};

// Tiles of kRows, then of half as many, down to one.
template <class T, int kRows, int kCols>
void dot_rows_from(const DotArgs<T>& t, std::int64_t m) {
  for (; m + kRows <= t.rows; m += kRows) DotTile<T, kRows, kCols>::run(t, t.a + m * t.a_row, t.c + m * t.c_row);
  if constexpr (kRows > 1) dot_rows_from<T, kRows / 2, kCols>(t, m);
}

template <class T, int kCols>
void dot(const DotArgs<T>& t) {
  dot_rows_from<T, dot_rows<T, kCols>(), kCols>(t, 0);
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

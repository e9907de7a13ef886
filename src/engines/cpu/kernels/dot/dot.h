// Few results a pixel, long sums: vectors along the sum.
//
//   c[m][n] = sum over k  a[m][k] * b[n][k]
//
// The sum is kept in kVirtualLanes<T> partial sums, term k of a run in lane k % kVirtualLanes, whatever
// the vector width; at the end lane l takes lane l + 8, then l + 4, ... So every instruction set gives
// the same bits.
#pragma once

#include <cstdint>

#include "engines/cpu/kernels/tile/tile.h"

namespace convgrad::cpu {

template <class T>
inline constexpr int kVirtualLanes = 64 / sizeof(T);

// Runs as in tile.h, with steps of 1 on both sides and b in units of b_unit. All rows x cols of c are
// stored.
template <class T>
struct DotArgs {
  const T* a;
  std::int64_t a_row;
  const T* b;
  std::int64_t b_col;  // from n to n + 1
  std::int64_t b_unit;
  const Run* runs;
  std::int64_t run_count;
  T* c;
  std::int64_t c_row;
  std::int64_t rows;
};

template <class T>
using DotFn = void (*)(const DotArgs<T>&);

inline constexpr int kMaxDotCols = 8;

// fn[cols - 1]
template <class T>
struct DotTable {
  DotFn<T> fn[kMaxDotCols];
};

}  // namespace convgrad::cpu

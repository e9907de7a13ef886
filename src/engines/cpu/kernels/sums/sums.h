// Long sums from block sums, with the rounding errors kept: hi + lo stands for the sum.
//
//   fold     (hi, lo) += block, the error of hi + block going to lo (Knuth's two-sum)
//   settle   out = hi + lo, or hi where it is not finite
//   join     to[r][i] = from[r][2 i] + from[r][2 i + 1], or ((4i) + (4i + 1)) + ((4i + 2) + (4i + 3))
//
// Integers just add. The error of a fold does not grow with the number of blocks.
#pragma once

#include <cstdint>

namespace convgrad::cpu {

template <class T>
struct SumArgs {
  T* hi;
  T* lo;
  const T* block;     // fold
  const T* block_lo;  // fold: its own errors, or null
  T* out;             // settle
  std::int64_t count;
};

// Rows of `from` are read to the end of the vector that holds their last lane; rows x count of `to` are written.
template <class T>
struct JoinArgs {
  const T* from;
  std::int64_t from_row;
  T* to;
  std::int64_t to_row;
  std::int64_t rows, count;
  std::int64_t terms;  // 2 or 4
};

template <class T>
struct SumTable {
  void (*fold)(const SumArgs<T>&);
  void (*settle)(const SumArgs<T>&);
  void (*join)(const JoinArgs<T>&);
};

}  // namespace convgrad::cpu

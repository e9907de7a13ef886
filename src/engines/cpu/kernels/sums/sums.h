// Long sums from block sums, with the rounding errors kept: hi + lo stands for the sum.
//
//   fold     (hi, lo) += block, the error of hi + block going to lo (Knuth's two-sum)
//   settle   out = hi + lo, or hi where it is not finite
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

template <class T>
struct SumTable {
  void (*fold)(const SumArgs<T>&);
  void (*settle)(const SumArgs<T>&);
};

}  // namespace convgrad::cpu

// How operands lie in shared memory: rows of 128 bytes, whose 16-byte pieces are exchanged within 8 rows so that
// neither a row nor a column of pieces falls on one bank (the copy engine's 128-byte swizzle).
#pragma once

#include "engines/cuda/kernels/elements.h"

namespace convgrad::cuda {

inline constexpr int kRowBytes = 128;

// Which of an operand's two indices is contiguous. along_sum: a row holds the step's terms of one m (or n). across: a
// row holds one term of neighbouring m's, in blocks of as many as fill it.
enum class Major { along_sum, across };

inline CONVGRAD_BOTH unsigned swizzled(unsigned row, unsigned byte) {
  return row * kRowBytes + (byte ^ ((row & 7) << 4));
}

// The terms of one step, which are also the elements of one row.
template <class Element>
inline constexpr int kTerms = kRowBytes / static_cast<int>(sizeof(typename Element::Stored));

// Of the element at (index, term), index = m or n, from the operand's start in its stage.
template <class Element, Major major>
CONVGRAD_BOTH unsigned staged_at(int index, int term) {
  constexpr int size = sizeof(typename Element::Stored), terms = kTerms<Element>;
  if (major == Major::along_sum) return swizzled(static_cast<unsigned>(index), static_cast<unsigned>(term * size));
  const int block = index / terms;
  return static_cast<unsigned>(block * terms * kRowBytes) +
         swizzled(static_cast<unsigned>(term), static_cast<unsigned>((index - block * terms) * size));
}

// Rows that an operand of `count` m's takes.
template <class Element, Major major>
inline constexpr int staged_rows(int count) {
  const int terms = kTerms<Element>;
  return major == Major::along_sum ? count : (count + terms - 1) / terms * terms;
}

}  // namespace convgrad::cuda

// How operands lie in shared memory: rows of 128 or 64 bytes, whose 16-byte pieces are exchanged within 8 rows so that
// neither a row nor a column of pieces falls on one bank (the copy engine's swizzles of as many bytes).
#pragma once

#include "engines/cuda/kernels/elements.h"

namespace convgrad::cuda {

// Which of an operand's two indices is contiguous. along_sum: a row holds the step's terms of one m (or n). across: a
// row holds one term of neighbouring m's, in blocks of as many as fill it.
enum class Major { along_sum, across };

// 8 rows of 128 bytes exchange their 8 pieces; of 64 bytes, pairs of rows exchange their 4.
template <int RowBytes>
CONVGRAD_BOTH unsigned swizzled(unsigned row, unsigned byte) {
  static_assert(RowBytes == 128 || RowBytes == 64);
  const unsigned exchange = RowBytes == 128 ? row & 7 : row >> 1 & 3;
  return row * RowBytes + (byte ^ exchange << 4);
}

template <class Element, int RowBytes_ = 128>
struct Staging {
  static constexpr int RowBytes = RowBytes_, Size = static_cast<int>(sizeof(typename Element::Stored));
  // The terms of one step, which are also the elements of one row.
  static constexpr int Terms = RowBytes / Size;

  // Of the element at (index, term), index = m or n, from the operand's start in its stage.
  template <Major major>
  static CONVGRAD_BOTH unsigned at(int index, int term) {
    if (major == Major::along_sum)
      return swizzled<RowBytes>(static_cast<unsigned>(index), static_cast<unsigned>(term * Size));
    const int block = index / Terms;
    return static_cast<unsigned>(block * Terms * RowBytes) +
           swizzled<RowBytes>(static_cast<unsigned>(term), static_cast<unsigned>((index - block * Terms) * Size));
  }

  // Rows that an operand of `count` m's takes.
  template <Major major>
  static constexpr int rows(int count) {
    return major == Major::along_sum ? count : (count + Terms - 1) / Terms * Terms;
  }
};

}  // namespace convgrad::cuda

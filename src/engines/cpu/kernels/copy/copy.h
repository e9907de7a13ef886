// Moves a matrix between a tensor and the workspace: layout and element type change here and
// nowhere else.
//
//   to[r * to_row + c * to_col] = convert(from[r * from_row + c * from_col])
//
// 16-bit types widen exactly and narrow to nearest even. Fast where neighbours lie side by side, or every second, along
// one of the two indices of `from` and side by side along one of `to` (lines copied, or blocks transposed).
#pragma once

#include <cstdint>

#include "convgrad/dtype.h"

namespace convgrad::cpu {

struct CopyArgs {
  const void* from;
  std::int64_t from_row, from_col;
  void* to;
  std::int64_t to_row, to_col;
  std::int64_t rows, cols;
};

//   to[r * to_row + c] = from[r * from_row + index[c]]      channels repeated or spread for small groups
//
// `within` > 0 promises index[c] == c - c % within + index[0]: a shuffle inside groups of that many lanes.
template <class T>
struct ExpandArgs {
  const T* from;
  std::int64_t from_row;
  T* to;
  std::int64_t to_row;
  std::int64_t rows, cols;
  const std::int32_t* index;
  std::int64_t within;
};

using CopyFn = void (*)(const CopyArgs&);

// By DType: from a tensor to its accumulator type, and back.
struct CopyTable {
  CopyFn in[5];
  CopyFn out[5];
};

}  // namespace convgrad::cpu

// Lays matrices of 16-bit elements out for kernels/pairs.
//
//   rows    to[r * to_row + c] = from[r * from_row + c * from_col]                     for r < rows, c < cols
//   pairs   to[c / 16 * to_row + r / 2 * 32 + c % 16 * 2 + r % 2] = the same, and 0 for the rest of the last
//           pair of rows and of the last 16 columns
//
// Fast where neighbours lie side by side along either index of `from`.
#pragma once

#include <cstdint>

namespace convgrad::cpu {

struct PackArgs {
  const std::uint16_t* from;
  std::int64_t from_row, from_col;
  std::uint16_t* to;
  std::int64_t to_row;
  std::int64_t rows, cols;
};

struct PackTable {
  void (*rows)(const PackArgs&);
  void (*pairs)(const PackArgs&);
  // Whether some bf16 of `count` is an infinity, a NaN or a denormal: what must not meet the zeros of a
  // gap, or what dot-product instructions take for zero.
  bool (*has_special)(const std::uint16_t* bf16, std::int64_t count);
};

}  // namespace convgrad::cpu

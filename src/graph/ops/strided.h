// Walks over tensors whose elements do not follow each other: broadcast, reduced or transposed ones.
#pragma once

#include <array>

#include "graph/row.h"

namespace convgrad::graph {

// In elements, of a contiguous tensor of these sizes.
std::vector<int64> contiguous_strides(const Shape& shape);

// Strides that walk a broadcast operand along the result's dimensions: 0 where it repeats.
std::vector<int64> broadcast_strides(const Shape& operand, const Shape& result);

// Calls f(first, at) for every row along the last dimension of `shape`: the flat index of the row's first element and,
// for each operand, the offset of that element by its own strides. A shape without dimensions is one row of one
// element.
template <std::size_t N, class F>
void each_row(const Shape& shape, const std::array<std::vector<int64>, N>& strides, F f) {
  int64 rows = 1;
  for (std::size_t d = 0; d + 1 < shape.size(); ++d) rows *= shape[d];
  const int64 length = shape.empty() ? 1 : shape.back();
  std::vector<int64> index(shape.size(), 0);
  std::array<int64, N> at{};
  for (int64 row = 0; row < rows && length > 0; ++row) {
    f(row * length, at);
    for (std::size_t d = shape.size() < 2 ? 0 : shape.size() - 1; d-- > 0;) {
      for (std::size_t n = 0; n < N; ++n) at[n] += strides[n][d];
      if (++index[d] < shape[d]) break;
      for (std::size_t n = 0; n < N; ++n) at[n] -= strides[n][d] * shape[d];
      index[d] = 0;
    }
  }
}

inline int64 row_length(const Shape& shape) { return shape.empty() ? 1 : shape.back(); }
inline int64 row_stride(const std::vector<int64>& strides) { return strides.empty() ? 0 : strides.back(); }

// A tensor of this shape whose element at an index is x's at index * strides.
Result<Tensor> gathered(const Tensor& x, const std::vector<int64>& strides, const Shape& shape);

}  // namespace convgrad::graph

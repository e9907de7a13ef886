// Softmax over the last dimension.
#pragma once

#include "graph/ops/shapes.h"
#include "graph/ops/total.h"

namespace convgrad::graph {

// Of a row: its largest element, and the sum of exp(x - largest). All that softmax needs, without overflow.
struct RowScale {
  double largest = -std::numeric_limits<double>::infinity();
  double sum = 0;
};
template <class T>
RowScale scale_of(const T* row, int64 length) {
  RowScale scale;
  for (int64 i = 0; i < length; ++i) scale.largest = std::fmax(scale.largest, Total<T>::term(row[i]));
  Total<T> sum;
  for (int64 i = 0; i < length; ++i) sum.add(std::exp(Total<T>::term(row[i]) - scale.largest));
  scale.sum = sum.value();
  return scale;
}

// Calls f(T{}, row) for every row of the last dimension of a floating point tensor, with the index of its first
// element.
template <class F>
void each_last_row(const Tensor& x, F f) {
  const int64 length = x.dim_size(x.dims() - 1);
  visit(x.dtype(), [&]<class T>(T) {
    if constexpr (!std::is_integral_v<T>) {
      for (int64 first = 0; first < x.NumElements(); first += length) f(T{}, first);
    }
  });
}

// The rows of Softmax and LogSoftmax.
OpRow softmax_row(string name, string doc, PinSpec output, RunFn run, GradientFn gradient);
// sum(x) along the last dimension, which stays with size 1.
Output sum_of_rows(const NodeGradient& gradient, const Output& x);

}  // namespace convgrad::graph

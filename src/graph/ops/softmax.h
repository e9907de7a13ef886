// Softmax over the last dimension.
#pragma once

#include "graph/ops/shapes.h"
#include "graph/ops/total.h"

namespace convgrad::graph {

// Of a row: its largest element, the sum of exp(x - largest) and its logarithm: all that softmax needs, without
// overflow.
struct RowScale {
  double largest = -std::numeric_limits<double>::infinity();
  double sum = 0;
  double log_sum = 0;
};
template <class T>
RowScale scale_of(const T* row, int64 length) {
  RowScale scale;
  for (int64 i = 0; i < length; ++i) scale.largest = std::fmax(scale.largest, Total<T>::term(row[i]));
  Total<T> sum;
  for (int64 i = 0; i < length; ++i) sum.add(std::exp(Total<T>::term(row[i]) - scale.largest));
  scale.sum = sum.value();
  scale.log_sum = std::log(scale.sum);
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

// A tensor of the input's shape, row by row: map(logit - largest, scale) for every element.
template <class Map>
Result<std::vector<Tensor>> map_last_rows(const NodeRun& run, Map map) {
  const Tensor& x = run.inputs[0];
  Result<Tensor> y = Tensor::make(x.dtype(), run.shapes[0]);
  if (!y.ok()) return y.status();
  const int64 length = run.shapes[0].back();
  each_last_row(x, [&]<class T>(T, int64 first) {
    const T* from = static_cast<const T*>(x.data()) + first;
    T* to = static_cast<T*>(y->data()) + first;
    const RowScale scale = scale_of(from, length);
    for (int64 i = 0; i < length; ++i) to[i] = narrow<T>(map(Total<T>::term(from[i]) - scale.largest, scale));
  });
  return std::vector<Tensor>{std::move(*y)};
}

// The rows of Softmax and LogSoftmax.
OpRow softmax_row(string name, string doc, PinSpec output, RunFn run, GradientFn gradient);
// sum(x) along the last dimension, which stays with size 1.
Output sum_of_rows(const NodeGradient& gradient, const Output& x);

}  // namespace convgrad::graph

// Ops that compute element by element, with NumPy's broadcasting where there are two inputs.
#pragma once

#include <functional>

#include "graph/convert.h"
#include "graph/ops/shapes.h"

namespace convgrad::graph {

// y[i] = f(x[i]) in the type that x is computed in.
template <class F>
Result<std::vector<Tensor>> map_elements(const NodeRun& run, F f) {
  const Tensor& x = run.inputs[0];
  Result<Tensor> y = Tensor::make(x.dtype(), run.shapes[0]);
  if (!y.ok()) return y.status();
  visit(x.dtype(), [&]<class T>(T) {
    const T* from = static_cast<const T*>(x.data());
    T* to = static_cast<T*>(y->data());
    for (int64 i = 0; i < x.NumElements(); ++i) to[i] = narrow<T>(static_cast<Wide<T>>(f(widen(from[i]))));
  });
  return std::vector<Tensor>{std::move(*y)};
}

// Strides that walk a broadcast operand along the result's dimensions: 0 where it repeats.
std::vector<int64> broadcast_strides(const TensorShape& operand, const Shape& result);

// z[i] = f(x[i], y[i]), both broadcast to the result. Integers wrap around.
template <class F>
Result<std::vector<Tensor>> zip_elements(const NodeRun& run, F f) {
  const Tensor &x = run.inputs[0], &y = run.inputs[1];
  Result<Tensor> z = Tensor::make(x.dtype(), run.shapes[0]);
  if (!z.ok()) return z.status();
  visit(x.dtype(), [&]<class T>(T) {
    using W = Wide<T>;
    const T *a = static_cast<const T*>(x.data()), *b = static_cast<const T*>(y.data());
    T* to = static_cast<T*>(z->data());
    const int64 count = z->NumElements();
    const auto one = [&](const T& left, const T& right) {
      if constexpr (std::is_integral_v<W>) {
        using Wraps = std::make_unsigned_t<W>;
        return static_cast<T>(f(static_cast<Wraps>(left), static_cast<Wraps>(right)));
      } else {
        return narrow<T>(static_cast<W>(f(widen(left), widen(right))));
      }
    };
    if (x.shape() == y.shape()) {
      for (int64 i = 0; i < count; ++i) to[i] = one(a[i], b[i]);
      return;
    }
    const std::vector<int64> by_x = broadcast_strides(x.shape(), run.shapes[0]);
    const std::vector<int64> by_y = broadcast_strides(y.shape(), run.shapes[0]);
    const std::size_t rank = by_x.size();
    std::vector<int64> at(rank, 0);
    int64 in_x = 0, in_y = 0;
    for (int64 i = 0; i < count; ++i) {
      to[i] = one(a[in_x], b[in_y]);
      for (std::size_t d = rank; d-- > 0;) {
        in_x += by_x[d], in_y += by_y[d];
        if (++at[d] < run.shapes[0][d]) break;
        in_x -= by_x[d] * at[d], in_y -= by_y[d] * at[d];
        at[d] = 0;
      }
    }
  });
  return std::vector<Tensor>{std::move(*z)};
}

// The rows of Add, Sub and Mul but for their arithmetic and gradients.
OpSpec broadcasting_op(string name, string doc);
Result<Inferred> broadcast_both(const NodeView& node);
// Sums a gradient over what broadcasting repeated of input `index`, so that it gets that input's shape.
Output unbroadcast(const NodeGradient& gradient, const Output& dy, int index);

}  // namespace convgrad::graph

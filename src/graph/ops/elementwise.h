// Ops that compute element by element, with NumPy's broadcasting where there are two inputs.
#pragma once

#include "graph/convert.h"
#include "graph/ops/shapes.h"
#include "graph/ops/strided.h"

namespace convgrad::graph {

// f of elements of T in the type that they are computed in, rounded once. Integers wrap around: f sees them unsigned.
template <class T, class F, class... Elements>
T computed(F f, Elements... elements) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(f(static_cast<std::make_unsigned_t<T>>(elements)...));
  } else {
    return narrow<T>(static_cast<Wide<T>>(f(widen(elements)...)));
  }
}

// Whether an element is above zero, as f above sees it.
template <class W>
bool positive(W x) {
  if constexpr (std::is_integral_v<W>) {
    return static_cast<std::make_signed_t<W>>(x) > 0;
  } else {
    return x > 0;
  }
}

template <class W>
bool is_nan(W x) {
  if constexpr (std::is_integral_v<W>) {
    return false;
  } else {
    return std::isnan(x);
  }
}

// y[i] = f(x[i]).
template <class F>
Result<std::vector<Tensor>> map_elements(const NodeRun& run, F f) {
  const Tensor& x = run.inputs[0];
  Result<Tensor> y = Tensor::make(x.dtype(), run.shapes[0]);
  if (!y.ok()) return y.status();
  visit(x.dtype(), [&]<class T>(T) {
    const T* from = static_cast<const T*>(x.data());
    T* to = static_cast<T*>(y->data());
    for (int64 i = 0; i < x.NumElements(); ++i) to[i] = computed<T>(f, from[i]);
  });
  return std::vector<Tensor>{std::move(*y)};
}

// z[i] = f(x[i], y[i]), both broadcast to `shape`.
template <class F>
Result<std::vector<Tensor>> zip_elements(const Tensor& x, const Tensor& y, const Shape& shape, F f) {
  Result<Tensor> z = Tensor::make(x.dtype(), shape);
  if (!z.ok()) return z.status();
  visit(x.dtype(), [&]<class T>(T) {
    const T *a = static_cast<const T*>(x.data()), *b = static_cast<const T*>(y.data());
    T* to = static_cast<T*>(z->data());
    if (x.shape() == y.shape()) {
      for (int64 i = 0; i < z->NumElements(); ++i) to[i] = computed<T>(f, a[i], b[i]);
      return;
    }
    const std::vector<int64> by_x = broadcast_strides(x.shape().dim_sizes(), shape);
    const std::vector<int64> by_y = broadcast_strides(y.shape().dim_sizes(), shape);
    const int64 length = row_length(shape), step_x = row_stride(by_x), step_y = row_stride(by_y);
    each_row<2>(shape, {by_x, by_y}, [&](int64 first, const auto& at) {
      for (int64 i = 0; i < length; ++i) to[first + i] = computed<T>(f, a[at[0] + i * step_x], b[at[1] + i * step_y]);
    });
  });
  return std::vector<Tensor>{std::move(*z)};
}
template <class F>
Result<std::vector<Tensor>> zip_elements(const NodeRun& run, F f) {
  return zip_elements(run.inputs[0], run.inputs[1], run.shapes[0], f);
}

// The rows of Add, Sub and Mul but for their arithmetic and gradients.
OpSpec broadcasting_op(string name, string doc);
Result<Inferred> broadcast_both(const NodeView& node);
// Sums a gradient over what broadcasting repeated of input `index`, so that it gets that input's shape.
Output unbroadcast(const NodeGradient& gradient, const Output& dy, int index);

// A row of one input and an output of its shape.
OpRow unary_row(OpSpec spec, RunFn run, GradientFn gradient);

// Add by either of its names.
OpRow add_row(string name, string doc);

}  // namespace convgrad::graph

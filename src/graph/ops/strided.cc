#include "graph/ops/strided.h"

namespace convgrad::graph {

std::vector<int64> contiguous_strides(const Shape& shape) {
  std::vector<int64> strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

std::vector<int64> broadcast_strides(const Shape& operand, const Shape& result) {
  const std::vector<int64> own = contiguous_strides(operand);
  const std::size_t missing = result.size() - operand.size();
  std::vector<int64> strides(result.size(), 0);
  for (std::size_t d = 0; d < operand.size(); ++d) {
    if (operand[d] != 1) strides[missing + d] = own[d];
  }
  return strides;
}

Result<Tensor> gathered(const Tensor& x, const std::vector<int64>& strides, const Shape& shape) {
  Result<Tensor> y = Tensor::make(x.dtype(), shape);
  if (!y.ok()) return y;
  visit(x.dtype(), [&]<class T>(T) {
    const T* from = static_cast<const T*>(x.data());
    T* to = static_cast<T*>(y->data());
    const int64 length = row_length(shape), step = row_stride(strides);
    each_row<1>(shape, {strides}, [&](int64 first, const auto& at) {
      for (int64 i = 0; i < length; ++i) to[first + i] = from[at[0] + i * step];
    });
  });
  return y;
}

}  // namespace convgrad::graph

#include "graph/ops/transpose.h"

namespace convgrad::graph {
namespace {

// y[x[i]] = i.
Result<Tensor> inverted(const Tensor& x) {
  Result<Tensor> y = Tensor::make(x.dtype(), x.shape().dim_sizes());
  if (!y.ok()) return y;
  const auto fill = [&]<class T>(T) {
    const T* from = static_cast<const T*>(x.data());
    for (int64 i = 0; i < x.NumElements(); ++i) static_cast<T*>(y->data())[from[i]] = static_cast<T>(i);
  };
  x.dtype() == DT_INT64 ? fill(int64{}) : fill(int32{});
  return y;
}

Result<Inferred> infer(const NodeView& node) {
  CONVGRAD_RETURN_IF_ERROR(want_permutation(node, 0, -1));
  Inferred inferred{{node.inputs[0].shape}};
  if (!node.inputs[0].value) return inferred;
  Result<Tensor> value = inverted(*node.inputs[0].value);
  if (!value.ok()) return value.status();
  inferred.value = std::move(*value);
  return inferred;
}

Result<std::vector<Tensor>> run(const NodeRun& run) {
  Result<Tensor> y = inverted(run.inputs[0]);
  if (!y.ok()) return y.status();
  return std::vector<Tensor>{std::move(*y)};
}

}  // namespace

OpRow InvertPermutation_row() {
  return {.spec = {.name = "InvertPermutation",
                   .group = "Core",
                   .doc = "The permutation that undoes another.",
                   .inputs = {{"x", "T", "Every number from 0 to below its length, once."}},
                   .outputs = {{"y", "T", "y[x[i]] = i."}},
                   .attrs = {type_of_inputs("T", {DT_INT32, DT_INT64})}},
          .infer = infer,
          .run = run};
}

}  // namespace convgrad::graph

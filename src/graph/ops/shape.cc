#include "graph/convert.h"
#include "graph/ops/shapes.h"

namespace convgrad::graph {
namespace {

Result<Tensor> sizes_of(const Shape& shape, DataType dtype) {
  Result<Tensor> sizes = Tensor::make(DT_INT64, {static_cast<int64>(shape.size())});
  if (!sizes.ok()) return sizes;
  std::copy(shape.begin(), shape.end(), static_cast<int64*>(sizes->data()));
  return convert(*sizes, dtype);
}

Result<Inferred> infer(const NodeView& node) {
  const PartialTensorShape& shape = node.inputs[0].shape;
  Inferred inferred{{PartialTensorShape({shape.dims()})}};
  if (!shape.IsFullyDefined()) return inferred;
  Result<Tensor> value = sizes_of(shape.sizes(), node.type("out_type"));
  if (!value.ok()) return value.status();
  inferred.value = std::move(*value);
  return inferred;
}

Result<std::vector<Tensor>> run(const NodeRun& run) {
  Result<Tensor> value = sizes_of(run.inputs[0].shape().dim_sizes(), run.node.type("out_type"));
  if (!value.ok()) return value.status();
  return std::vector<Tensor>{std::move(*value)};
}

}  // namespace

OpRow Shape_row() {
  return {.spec = {.name = "Shape",
                   .group = "Core",
                   .doc = "The sizes of a tensor's dimensions.",
                   .inputs = {{"input", "T", "Any tensor."}},
                   .outputs = {{"output", "out_type", "One number a dimension."}},
                   .attrs = {type_of_inputs("T", number_types()),
                             type("out_type", "Type of the sizes.", {DT_INT32, DT_INT64}, DT_INT32)}},
          .infer = infer,
          .run = run};
}

}  // namespace convgrad::graph

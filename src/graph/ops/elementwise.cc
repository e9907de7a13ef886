#include "graph/ops/elementwise.h"

namespace convgrad::graph {

std::vector<int64> broadcast_strides(const TensorShape& operand, const Shape& result) {
  std::vector<int64> strides(result.size(), 0);
  int64 stride = 1;
  for (std::size_t from_end = 1; from_end <= static_cast<std::size_t>(operand.dims()); ++from_end) {
    const int64 size = operand.dim_size(operand.dims() - static_cast<int>(from_end));
    if (size > 1) strides[result.size() - from_end] = stride;
    stride *= size;
  }
  return strides;
}

OpSpec broadcasting_op(string name, string doc) {
  return {.name = std::move(name),
          .group = "Math",
          .doc = std::move(doc),
          .inputs = {{"x", "T", "Any shape."}, {"y", "T", "A shape that broadcasts with x."}},
          .outputs = {{"z", "T", "The broadcast shape."}},
          .attrs = {type_of_inputs("T", number_types())}};
}

Result<Inferred> broadcast_both(const NodeView& node) {
  Result<PartialTensorShape> shape = broadcast(node, node.inputs[0].shape, node.inputs[1].shape);
  if (!shape.ok()) return shape.status();
  return Inferred{{*shape}};
}

Output unbroadcast(const NodeGradient& gradient, const Output& dy, int index) {
  const PartialTensorShape& input = gradient.shape(gradient.x(index));
  if (input.IsFullyDefined() && input == gradient.shape(gradient.y())) return dy;
  return gradient.op("SumToShapeOf", {dy, gradient.x(index)});
}

}  // namespace convgrad::graph

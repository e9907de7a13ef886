#include "graph/ops/elementwise.h"

namespace convgrad::graph {

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
  const PartialTensorShape input = gradient.shape(gradient.x(index));
  if (input.IsFullyDefined() && input == gradient.shape(gradient.y())) return dy;
  return gradient.op("SumToShapeOf", {dy, gradient.x(index)});
}

OpRow unary_row(OpSpec spec, RunFn run, GradientFn gradient) {
  return {.spec = std::move(spec), .infer = same_as_first, .run = run, .gradient = gradient};
}

}  // namespace convgrad::graph

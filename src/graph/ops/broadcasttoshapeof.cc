#include "graph/ops/shapes.h"
#include "graph/ops/strided.h"

namespace convgrad::graph {
namespace {

Result<Inferred> infer(const NodeView& node) {
  CONVGRAD_RETURN_IF_ERROR(want_broadcast(node, 0, 1));
  return Inferred{{node.inputs[1].shape}};
}

Result<std::vector<Tensor>> run(const NodeRun& run) {
  const Shape& shape = run.shapes[0];
  Result<Tensor> y = gathered(run.inputs[0], broadcast_strides(run.inputs[0].shape().dim_sizes(), shape), shape);
  if (!y.ok()) return y.status();
  return std::vector<Tensor>{std::move(*y)};
}

std::vector<Output> gradient(const NodeGradient& g) { return {g.op("SumToShapeOf", {g.dy[0], g.x(0)}), NoGradient()}; }

}  // namespace

OpRow BroadcastToShapeOf_row() {
  return {.spec = {.name = "BroadcastToShapeOf",
                   .group = "Math",
                   .doc = "Repeats a tensor, as broadcasting does, to the shape of another.",
                   .inputs = {{"x", "T", "A shape that broadcasts to that of like."}, {"like", "T", "Any tensor."}},
                   .outputs = {{"output", "T", "The shape of like."}},
                   .attrs = {type_of_inputs("T", number_types())}},
          .infer = infer,
          .run = run,
          .gradient = gradient};
}

}  // namespace convgrad::graph

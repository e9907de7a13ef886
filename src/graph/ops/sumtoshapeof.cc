#include "graph/ops/reduce.h"

namespace convgrad::graph {
namespace {

Result<Inferred> infer(const NodeView& node) {
  CONVGRAD_RETURN_IF_ERROR(want_broadcast(node, 1, 0));
  return Inferred{{node.inputs[1].shape}};
}

Result<std::vector<Tensor>> run(const NodeRun& run) { return reduced(run.inputs[0], {run.shapes[0], run.shapes[0]}); }

std::vector<Output> gradient(const NodeGradient& g) {
  return {g.op("BroadcastToShapeOf", {g.dy[0], g.x(0)}), NoGradient()};
}

}  // namespace

OpRow SumToShapeOf_row() {
  return {.spec = {.name = "SumToShapeOf",
                   .group = "Math",
                   .doc = "Sums over what broadcasting would repeat: the gradient of broadcasting.",
                   .inputs = {{"x", "T", "Any tensor."}, {"like", "T", "A shape that broadcasts to that of x."}},
                   .outputs = {{"output", "T", "The shape of like."}},
                   .attrs = {type_of_inputs("T", number_types())}},
          .infer = infer,
          .run = run,
          .gradient = gradient};
}

}  // namespace convgrad::graph

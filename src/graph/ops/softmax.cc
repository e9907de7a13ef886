#include "graph/ops/softmax.h"

namespace convgrad::graph {
namespace {

Result<Inferred> infer(const NodeView& node) {
  const PartialTensorShape& shape = node.inputs[0].shape;
  if (shape.dims() == 0)
    return node.refuse({.rule = Rule::rank,
                        .argument = node.op.inputs[0].name,
                        .reason = "logits must have >= 1 dimension",
                        .got = shape.DebugString(),
                        .wanted = "1 dimension or more"});
  return Inferred{{shape}};
}

// softmax(x)[i] = exp(x[i]) / sum of exp(x).
Result<std::vector<Tensor>> run(const NodeRun& run) {
  return map_last_rows(run, [](double x, const RowScale& scale) { return std::exp(x) / scale.sum; });
}

// dx = (dy - sum(dy * y)) * y.
std::vector<Output> gradient(const NodeGradient& g) {
  const Output y = g.y(), dy = g.dy[0];
  return {g.op("Mul", {g.op("Sub", {dy, sum_of_rows(g, g.op("Mul", {dy, y}))}), y})};
}

}  // namespace

OpRow softmax_row(string name, string doc, PinSpec output, RunFn run, GradientFn gradient) {
  return {.spec = {.name = std::move(name),
                   .group = "Neural network",
                   .doc = std::move(doc),
                   .inputs = {{"logits", "T", "One dimension or more; rows are along the last."}},
                   .outputs = {std::move(output)},
                   .attrs = {type_of_inputs("T", floating_types())}},
          .infer = infer,
          .run = run,
          .gradient = gradient};
}

Output sum_of_rows(const NodeGradient& gradient, const Output& x) {
  return gradient.op("Sum", {x, Input(-1)}, {{"keep_dims", true}});
}

OpRow Softmax_row() {
  return softmax_row("Softmax", "exp(logits) of every row, divided by their sum.",
                     {"softmax", "T", "Rows that sum to 1."}, run, gradient);
}

}  // namespace convgrad::graph

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
  const Tensor& x = run.inputs[0];
  Result<Tensor> y = Tensor::make(x.dtype(), run.shapes[0]);
  if (!y.ok()) return y.status();
  const int64 length = run.shapes[0].back();
  each_last_row(x, [&]<class T>(T, int64 first) {
    const T* from = static_cast<const T*>(x.data()) + first;
    T* to = static_cast<T*>(y->data()) + first;
    const RowScale scale = scale_of(from, length);
    for (int64 i = 0; i < length; ++i) to[i] = narrow<T>(std::exp(Total<T>::term(from[i]) - scale.largest) / scale.sum);
  });
  return std::vector<Tensor>{std::move(*y)};
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

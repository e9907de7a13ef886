#include "graph/ops/softmax.h"

namespace convgrad::graph {
namespace {

// x[i] - log(sum of exp(x)).
Result<std::vector<Tensor>> run(const NodeRun& run) {
  const Tensor& x = run.inputs[0];
  Result<Tensor> y = Tensor::make(x.dtype(), run.shapes[0]);
  if (!y.ok()) return y.status();
  const int64 length = run.shapes[0].back();
  each_last_row(x, [&]<class T>(T, int64 first) {
    const T* from = static_cast<const T*>(x.data()) + first;
    T* to = static_cast<T*>(y->data()) + first;
    const RowScale scale = scale_of(from, length);
    const double log_sum = std::log(scale.sum);
    for (int64 i = 0; i < length; ++i) to[i] = narrow<T>(Total<T>::term(from[i]) - scale.largest - log_sum);
  });
  return std::vector<Tensor>{std::move(*y)};
}

// dx = dy - sum(dy) * softmax(x).
std::vector<Output> gradient(const NodeGradient& g) {
  const Output softmax = g.op("Softmax", {g.x(0)});
  return {g.op("Sub", {g.dy[0], g.op("Mul", {sum_of_rows(g, g.dy[0]), softmax})})};
}

}  // namespace

OpRow LogSoftmax_row() {
  return softmax_row("LogSoftmax", "The logarithm of Softmax, exact where that is tiny.",
                     {"logsoftmax", "T", "Its logarithms."}, run, gradient);
}

}  // namespace convgrad::graph

#include "graph/ops/softmax.h"

namespace convgrad::graph {
namespace {

// x[i] - log(sum of exp(x)).
Result<std::vector<Tensor>> run(const NodeRun& run) {
  return map_last_rows(run, [](double x, const RowScale& scale) { return x - scale.log_sum; });
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

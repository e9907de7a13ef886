#include "graph/ops/elementwise.h"

namespace convgrad::graph {
namespace {

Result<std::vector<Tensor>> run(const NodeRun& run) {
  return zip_elements(run, [](auto x, auto y) { return x * y; });
}

std::vector<Output> gradient(const NodeGradient& g) {
  return {unbroadcast(g, g.op("Mul", {g.dy[0], g.x(1)}), 0), unbroadcast(g, g.op("Mul", {g.dy[0], g.x(0)}), 1)};
}

}  // namespace

OpRow Mul_row() {
  OpSpec spec = broadcasting_op("Mul", "x * y, element by element.");
  spec.class_name = "Multiply";
  return {.spec = std::move(spec), .infer = broadcast_both, .run = run, .gradient = gradient};
}

}  // namespace convgrad::graph

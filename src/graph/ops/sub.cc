#include "graph/ops/elementwise.h"

namespace convgrad::graph {
namespace {

Result<std::vector<Tensor>> run(const NodeRun& run) {
  return zip_elements(run, [](auto x, auto y) { return x - y; });
}

std::vector<Output> gradient(const NodeGradient& g) {
  return {unbroadcast(g, g.dy[0], 0), unbroadcast(g, g.op("Neg", {g.dy[0]}), 1)};
}

}  // namespace

OpRow Sub_row() {
  OpSpec spec = broadcasting_op("Sub", "x - y, element by element.");
  spec.class_name = "Subtract";
  return {.spec = std::move(spec), .infer = broadcast_both, .run = run, .gradient = gradient};
}

}  // namespace convgrad::graph

#include "graph/ops/elementwise.h"

namespace convgrad::graph {
namespace {

Result<std::vector<Tensor>> run(const NodeRun& run) {
  return map_elements(run, [](auto x) { return x * x; });
}

// dx = dy * 2x.
std::vector<Output> gradient(const NodeGradient& g) { return {g.op("Mul", {g.dy[0], g.op("Add", {g.x(0), g.x(0)})})}; }

}  // namespace

OpRow Square_row() {
  return unary_row({.name = "Square",
                    .group = "Math",
                    .doc = "x * x, element by element.",
                    .inputs = {{"x", "T", "Any tensor."}},
                    .outputs = {{"y", "T", "Its squares."}},
                    .attrs = {type_of_inputs("T", number_types())}},
                   run, gradient);
}

}  // namespace convgrad::graph

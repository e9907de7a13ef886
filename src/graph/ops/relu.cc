#include "graph/ops/elementwise.h"

namespace convgrad::graph {
namespace {

Result<std::vector<Tensor>> run(const NodeRun& run) {
  return map_elements(run, []<class W>(W x) { return positive(x) || is_nan(x) ? x : W{0}; });
}

std::vector<Output> gradient(const NodeGradient& g) { return {g.op("ReluGrad", {g.dy[0], g.x(0)})}; }

}  // namespace

OpRow Relu_row() {
  return unary_row({.name = "Relu",
                    .group = "Neural network",
                    .doc = "max(features, 0), element by element.",
                    .inputs = {{"features", "T", "Any tensor."}},
                    .outputs = {{"activations", "T", "Zero where it was negative."}},
                    .attrs = {type_of_inputs("T", number_types())}},
                   run, gradient);
}

}  // namespace convgrad::graph

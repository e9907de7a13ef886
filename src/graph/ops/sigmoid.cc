#include <cmath>

#include "graph/ops/elementwise.h"

namespace convgrad::graph {
namespace {

// y = 1 / (1 + exp(-x)), in double: exp(-x) of a large negative float would overflow one.
Result<std::vector<Tensor>> run(const NodeRun& run) {
  return map_elements(run, []<class W>(W x) { return static_cast<W>(1 / (1 + std::exp(-static_cast<double>(x)))); });
}

// dx = dy * y * (1 - y).
std::vector<Output> gradient(const NodeGradient& g) {
  const Output y = g.y();
  return {g.op("Mul", {g.dy[0], g.op("Mul", {y, g.op("Sub", {g.op("OnesLike", {y}), y})})})};
}

}  // namespace

OpRow Sigmoid_row() {
  return unary_row({.name = "Sigmoid",
                    .group = "Neural network",
                    .doc = "1 / (1 + exp(-x)), element by element.",
                    .inputs = {{"x", "T", "Any tensor."}},
                    .outputs = {{"y", "T", "Between 0 and 1."}},
                    .attrs = {type_of_inputs("T", floating_types())}},
                   run, gradient);
}

}  // namespace convgrad::graph

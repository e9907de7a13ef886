#include "graph/ops/elementwise.h"

namespace convgrad::graph {
namespace {

Result<std::vector<Tensor>> run(const NodeRun& run) {
  return map_elements(run, [](auto x) { return -x; });
}

std::vector<Output> gradient(const NodeGradient& g) { return {g.op("Neg", {g.dy[0]})}; }

}  // namespace

OpRow Neg_row() {
  return unary_row({.name = "Neg",
                    .group = "Math",
                    .doc = "-x, element by element.",
                    .inputs = {{"x", "T", "Any tensor."}},
                    .outputs = {{"y", "T", "The negatives."}},
                    .attrs = {type_of_inputs("T", number_types())},
                    .class_name = "Negate"},
                   run, gradient);
}

}  // namespace convgrad::graph

#include "graph/ops/shapes.h"

namespace convgrad::graph {
namespace {

Result<Inferred> infer(const NodeView& node) { return Inferred{{node.inputs[0].shape}, node.inputs[0].value}; }
Result<std::vector<Tensor>> run(const NodeRun& run) { return std::vector<Tensor>{run.inputs[0]}; }
std::vector<Output> gradient(const NodeGradient& g) { return {g.dy[0]}; }

}  // namespace

OpRow Identity_row() {
  return {.spec = {.name = "Identity",
                   .group = "Core",
                   .doc = "Its input.",
                   .inputs = {{"input", "T", "Any tensor."}},
                   .outputs = {{"output", "T", "The same."}},
                   .attrs = {type_of_inputs("T", number_types())}},
          .infer = infer,
          .run = run,
          .gradient = gradient};
}

}  // namespace convgrad::graph

#include "graph/ops/elementwise.h"

namespace convgrad::graph {
namespace {

Result<Inferred> infer(const NodeView& node) {
  Result<PartialTensorShape> shape = merged(node, 0, 2);
  if (!shape.ok()) return shape.status();
  return Inferred{{*shape}};
}

Result<std::vector<Tensor>> run(const NodeRun& run) {
  return zip_elements(run, []<class W>(W gradient, W feature) { return positive(feature) ? gradient : W{0}; });
}

// Linear in the gradients; flat in the features.
std::vector<Output> gradient(const NodeGradient& g) {
  return {g.op("ReluGrad", {g.dy[0], g.x(1)}), g.op("ZerosLike", {g.x(1)})};
}

}  // namespace

OpRow ReluGrad_row() {
  return {.spec = {.name = "ReluGrad",
                   .group = "Neural network",
                   .doc = "Gradient of Relu: the gradients where features are above zero.",
                   .inputs = {{"gradients", "T", "Gradient with respect to Relu's output."},
                              {"features", "T", "Relu's input or its output."}},
                   .outputs = {{"backprops", "T", "Gradient with respect to Relu's input."}},
                   .attrs = {type_of_inputs("T", number_types())}},
          .infer = infer,
          .run = run,
          .gradient = gradient};
}

}  // namespace convgrad::graph

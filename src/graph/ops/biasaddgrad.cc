#include "graph/ops/bias.h"
#include "graph/ops/reduce.h"

namespace convgrad::graph {
namespace {

Result<Inferred> infer(const NodeView& node) {
  CONVGRAD_RETURN_IF_ERROR(want_channels(node));
  const PartialTensorShape& shape = node.inputs[0].shape;
  return Inferred{{PartialTensorShape({shape.dim_size(channel_of(node, shape.dims()))})}};
}

Result<std::vector<Tensor>> run(const NodeRun& run) {
  const Tensor& dy = run.inputs[0];
  return reduced(dy, {bias_shape(run.node, dy.shape().dim_sizes()), run.shapes[0]});
}

// A bias of its own for zeros: the number of every channel, repeated.
std::vector<Output> gradient(const NodeGradient& g) {
  return {g.op("BiasAdd", {g.op("ZerosLike", {g.x(0)}), g.dy[0]}, g.attrs({"data_format"}))};
}

}  // namespace

OpRow BiasAddGrad_row() {
  return {.spec = {.name = "BiasAddGrad",
                   .group = "Neural network",
                   .doc = "Gradient of BiasAdd with respect to the bias: the sum of every channel.",
                   .inputs = {{"out_backprop", "T", "Gradient with respect to BiasAdd's output."}},
                   .outputs = {{"output", "T", "One number a channel."}},
                   .attrs = {bias_format(), type_of_inputs("T", number_types())}},
          .infer = infer,
          .run = run,
          .gradient = gradient};
}

}  // namespace convgrad::graph

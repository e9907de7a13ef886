#include "graph/ops/bias.h"
#include "graph/ops/elementwise.h"

namespace convgrad::graph {
namespace {

Result<Inferred> infer(const NodeView& node) {
  CONVGRAD_RETURN_IF_ERROR(want_channels(node));
  const PartialTensorShape &value = node.inputs[0].shape, &bias = node.inputs[1].shape;
  CONVGRAD_RETURN_IF_ERROR(want_vector(node, 1));
  if (value.unknown_rank()) return Inferred{{value}};
  const int channel = channel_of(node, value.dims());
  const int64 channels = value.dim_size(channel), given = bias.dim_size(0);
  if (channels >= 0 && given >= 0 && channels != given)
    return node.refuse({.rule = Rule::channel_mismatch,
                        .argument = "bias",
                        .reason = concat("Must provide as many biases as the channels of the input tensor: ",
                                         bias.DebugString(), " vs. ", channels, " in ", value.DebugString()),
                        .got = concat(given, " biases"),
                        .wanted = concat(channels)});
  Shape sizes = value.sizes();
  sizes[static_cast<std::size_t>(channel)] = std::max(channels, given);
  return Inferred{{PartialTensorShape(sizes)}};
}

Result<std::vector<Tensor>> run(const NodeRun& run) {
  const Result<std::vector<Tensor>> bias = reshaped(run.inputs[1], bias_shape(run.node, run.shapes[0]));
  if (!bias.ok()) return bias.status();
  return zip_elements(run.inputs[0], bias->front(), run.shapes[0], [](auto x, auto y) { return x + y; });
}

std::vector<Output> gradient(const NodeGradient& g) {
  return {g.dy[0], g.op("BiasAddGrad", {g.dy[0]}, g.attrs({"data_format"}))};
}

}  // namespace

OpRow BiasAdd_row() {
  return {.spec = {.name = "BiasAdd",
                   .group = "Neural network",
                   .doc = "Adds a number to every channel.",
                   .inputs = {{"value", "T", "2 dimensions or more."}, {"bias", "T", "One number a channel."}},
                   .outputs = {{"output", "T", "The shape of value."}},
                   .attrs = {bias_format(), type_of_inputs("T", number_types())}},
          .infer = infer,
          .run = run,
          .gradient = gradient};
}

}  // namespace convgrad::graph

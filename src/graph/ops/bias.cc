#include "graph/ops/bias.h"

namespace convgrad::graph {

AttrSpec bias_format() {
  return choice("data_format", "NHWC: the channels are the last dimension, NCHW: they are the second.",
                {"NHWC", "NCHW"}, "NHWC");
}

convgrad::Status want_channels(const NodeView& node) {
  const PartialTensorShape& shape = node.inputs[0].shape;
  if (shape.unknown_rank() || shape.dims() >= 2) return {};
  return node.refuse({.rule = Rule::rank,
                      .argument = node.op.inputs[0].name,
                      .reason = "Input tensor must be at least 2D",
                      .got = shape.DebugString(),
                      .wanted = "2 dimensions or more"});
}

int channel_of(const NodeView& node, int rank) { return node.text("data_format") == "NCHW" ? 1 : rank - 1; }

Shape bias_shape(const NodeView& node, const Shape& tensor) {
  const auto channel = static_cast<std::size_t>(channel_of(node, static_cast<int>(tensor.size())));
  Shape shape(tensor.size(), 1);
  shape[channel] = tensor[channel];
  return shape;
}

}  // namespace convgrad::graph

#include "graph/ops/pool.h"

namespace convgrad::graph {
namespace {

std::size_t channel_of(const NodeView& node, int rank) {
  const bool first = node.text("data_format")[1] == 'C';
  return first ? 1 : static_cast<std::size_t>(rank) + 1;
}

convgrad::Status refuse_ksize(const NodeView& node, string reason, string wanted) {
  return node.refuse({.rule = Rule::graph_attr,
                      .argument = "ksize",
                      .reason = std::move(reason),
                      .got = convgrad::to_text(node.integers("ksize")),
                      .wanted = std::move(wanted)});
}

convgrad::Status check_ksize(const NodeView& node, int rank) {
  const std::vector<int64>& ksize = node.integers("ksize");
  if (static_cast<int>(ksize.size()) != rank + 2)
    return refuse_ksize(node, concat("Sliding window ksize field must specify ", rank + 2, " dimensions"),
                        concat(rank + 2, " entries, one a dimension"));
  for (int64 size : ksize) {
    if (size < 1) return refuse_ksize(node, "Sliding window ksize must be positive", "entries of 1 or more");
  }
  if (ksize[0] != 1 || ksize[channel_of(node, rank)] != 1)
    return refuse_ksize(node, "Pooling is not supported on the batch and channel dimensions",
                        "1 for the batch and the channels");
  return {};
}

// A window in the padding alone has no largest element and no mean.
convgrad::Status check_padding(const NodeView& node, const Geometry& g) {
  for (std::size_t d = 0; d < 3; ++d) {
    const bool outside = g.pad_before[d] >= g.filter[d] || g.pad_after[d] >= g.filter[d];
    if (!outside && (g.in[d] > 0 || g.out[d] == 0)) continue;
    return node.refuse({.rule = Rule::padding_list,
                        .argument = "explicit_paddings",
                        .reason = outside ? "padding must be smaller than the window"
                                          : "a window would stand in the padding of an empty input",
                        .got = convgrad::to_text(node.integers("explicit_paddings")),
                        .wanted = outside ? concat("less than ksize ", convgrad::to_text(node.integers("ksize")))
                                          : "an input that has elements"});
  }
  return {};
}

// Geometry's refusal of the convolution in words of the pooling.
convgrad::Status as_pooling(const NodeView& node, const convgrad::Status& status, std::string_view input) {
  const string& old = status.argument();
  const string argument = old == "filter" ? "ksize" : old == "input" ? string(input) : old;
  const string tail = concat(" (", old, ": got ");
  string message = status.message();
  const auto head = message.find(": "), at = message.rfind(tail);
  if (at != string::npos) message.replace(at, tail.size(), concat(" (", argument, ": got "));
  if (head != string::npos) message.replace(0, head, node.op.name);
  return convgrad::Status(ErrorDetail{.code = status.code(),
                                      .message = std::move(message),
                                      .argument = argument,
                                      .got = status.got(),
                                      .wanted = status.wanted(),
                                      .rule = status.rule()});
}

// An element type that convolutions know, of the same width.
DType same_width(DataType dtype) {
  if (dtype == DT_INT32) return DType::f32;
  return eager_dtype(dtype).value_or(DType::f64);
}

// One filter a channel. An input without channels is checked as one that has one: it has the same windows.
OwnedCall depthwise_call(const NodeView& node, int rank, const Shape& input) {
  OwnedCall call = OwnedCall::of(rank == 2 ? Op::conv2d : Op::conv3d);
  const std::vector<int64>& ksize = node.integers("ksize");
  const std::size_t channel = channel_of(node, rank);
  Shape with_channels = input;
  with_channels[channel] = std::max<int64>(input[channel], 1);
  Shape filter;
  for (std::size_t d = 1; d < ksize.size(); ++d) {
    if (d != channel) filter.push_back(ksize[d]);
  }
  filter.insert(filter.end(), {1, with_channels[channel]});
  call.dtype = same_width(node.type("T"));
  call.input = with_channels;
  call.filter = filter;
  call.strides = node.integers("strides");
  call.padding = node.text("padding");
  call.explicit_paddings = node.integers("explicit_paddings");
  call.data_format = node.text("data_format");
  return call;
}

convgrad::Status check_rank(const NodeView& node, int rank, const PartialTensorShape& shape, std::string_view input) {
  if (shape.unknown_rank() || shape.dims() == rank + 2) return {};
  return node.refuse({.rule = Rule::rank,
                      .argument = input,
                      .reason = concat(input, " must be ", rank + 2, "-dimensional"),
                      .got = shape.DebugString(),
                      .wanted = concat(rank + 2, " dimensions")});
}

}  // namespace

Result<Pooled> pooled(const NodeView& node, int rank, const PartialTensorShape& shape, std::string_view input) {
  CONVGRAD_RETURN_IF_ERROR(check_ksize(node, rank));
  CONVGRAD_RETURN_IF_ERROR(check_rank(node, rank, shape, input));
  const Shape known = shape.unknown_rank() ? Shape(static_cast<std::size_t>(rank) + 2, -1) : shape.sizes();
  Shape sizes = known;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] < 0) sizes[d] = node.integers("ksize")[d];
  }
  Result<Geometry> geometry = validate(depthwise_call(node, rank, sizes).view());
  if (!geometry.ok()) return as_pooling(node, geometry.status(), input);
  CONVGRAD_RETURN_IF_ERROR(check_padding(node, *geometry));
  Shape output = out_shape(*geometry);
  const std::size_t channel = channel_of(node, rank);
  output[channel] = geometry->c_in = geometry->c_out = known[channel];
  for (std::size_t d = 0; d < known.size(); ++d) {
    if (known[d] < 0) output[d] = -1;
  }
  return Pooled{PartialTensorShape(known), PartialTensorShape(output), *geometry};
}

Lanes lanes_of(const Geometry& geometry) {
  const bool last = geometry.layout == Layout::channels_last;
  return {last ? geometry.n : geometry.n * geometry.c_in, last ? geometry.c_in : 1};
}

int64 positions(const Extents& extents) { return extents[0] * extents[1] * extents[2]; }

string pool_group(int rank) { return rank == 2 ? "Pooling 2-D" : "Pooling 3-D"; }

OpSpec pool_spec(int rank, const PoolWords& words, const std::vector<DataType>& types) {
  return {.name = words.name,
          .group = pool_group(rank),
          .doc = words.doc,
          .inputs = {{words.input, "T", "Images or volumes, in data_format order."}},
          .outputs = {{"output", "T", "One element a window and channel."}},
          .attrs = pool_attrs(rank, types)};
}

std::vector<AttrSpec> pool_attrs(int rank, std::vector<DataType> types) {
  const string last(data_format(Layout::channels_last, rank)), first(data_format(Layout::channels_first, rank));
  return {integers("ksize", "Size of the window, one a dimension in data_format order; 1 for batch and channels."),
          integers("strides", "Step of the window, one a dimension; 1 for batch and channels."),
          choice("padding", "SAME, VALID, or EXPLICIT with explicit_paddings.", {"SAME", "VALID", "EXPLICIT"}),
          integers("explicit_paddings", "Cells before and after each dimension, with EXPLICIT padding.",
                   std::vector<int64>{}),
          choice("data_format", "Order of the dimensions.", {last, first}, last),
          type_of_inputs("T", std::move(types))};
}

AttrMap pool_attrs(const NodeGradient& gradient) {
  return gradient.attrs({"ksize", "strides", "padding", "explicit_paddings", "data_format"});
}

}  // namespace convgrad::graph

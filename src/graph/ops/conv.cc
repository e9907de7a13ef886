// Shapes and errors come from geometry, results from the eager calls; here is only which input is which.
#include "graph/ops/conv.h"

#include "graph/ops/shapes.h"

namespace convgrad::graph {
namespace {

// A row's inputs by their part in the convolution. Sizes are null for the forward ops.
struct Parts {
  const WireInfo* first;   // input, or filter for the input gradient
  const WireInfo* second;  // filter, or out_backprop
  const WireInfo* sizes = nullptr;
};

Parts parts_of(const NodeView& node, Direction direction) {
  const auto& in = node.inputs;
  if (direction == Direction::forward) return {&in[0], &in[1]};
  if (direction == Direction::filter_grad) return {&in[0], &in[2], &in[1]};
  return {&in[1], &in[2], &in[0]};
}

// [h, w, channels, multiplier] as the grouped filter [h, w, 1, channels * multiplier]: the same memory.
Shape grouped_filter(const Shape& filter) {
  return filter.size() == 4 ? Shape{filter[0], filter[1], 1, filter[2] * filter[3]} : filter;
}

// The sizes as the eager call wants them; no value while they are not known.
struct SizeList {
  Shape numbers;
  int rank = 1;
};
std::optional<SizeList> sizes_of(const Parts& parts, const ConvForm& form) {
  if (parts.sizes == nullptr) return SizeList{};
  if (form.sizes_of_tensor) {
    if (!parts.sizes->shape.IsFullyDefined()) return std::nullopt;
    return SizeList{parts.sizes->shape.sizes()};
  }
  std::optional<std::vector<int64>> numbers = known_integers(*parts.sizes);
  if (!numbers) return std::nullopt;
  return SizeList{std::move(*numbers), parts.sizes->shape.dims()};
}

// Everything geometry wants to know, owned.
struct Call {
  OwnedCall owned;
  std::optional<DType> second_dtype;
};

Call call_of(const NodeView& node, const ConvForm& form, const Parts& parts, const SizeList& sizes) {
  const Direction direction = info(form.op).direction;
  Call call{OwnedCall::of(form.op), eager_dtype(parts.second->dtype)};
  OwnedCall& owned = call.owned;
  owned.dtype = *eager_dtype(parts.first->dtype);
  owned.sizes = sizes.numbers;
  owned.sizes_rank = sizes.rank;
  owned.depthwise = form.depthwise;
  (direction == Direction::input_grad ? owned.filter : owned.input) = parts.first->shape.sizes();
  (direction == Direction::forward ? owned.filter : owned.out_backprop) = parts.second->shape.sizes();
  owned.strides = node.integers("strides");
  owned.dilations = node.integers("dilations");
  owned.padding = node.text("padding");
  owned.explicit_paddings = node.integers("explicit_paddings");
  owned.data_format = node.text("data_format");
  return call;
}

// The batch size that the sizes of an input gradient state; -1 when they do not.
int64 stated_batch(const WireInfo& sizes, const ConvForm& form) {
  if (form.sizes_of_tensor) return sizes.shape.dim_size(0);
  const std::optional<std::vector<int64>> numbers = known_integers(sizes);
  return numbers && numbers->size() > 2 ? numbers->front() : -1;
}

// The inputs with a batch size of 1 where nobody knows it: it decides nothing else.
struct Batched {
  std::vector<WireInfo> inputs;
  bool unknown = false;

  Batched(const NodeView& node, const ConvForm& form) : inputs(node.inputs.begin(), node.inputs.end()) {
    const Direction direction = info(form.op).direction;
    std::vector<WireInfo*> batches;
    if (direction != Direction::input_grad) batches.push_back(&inputs[0]);
    if (direction != Direction::forward) batches.push_back(&inputs[2]);
    int64 known = direction == Direction::input_grad ? stated_batch(inputs[0], form) : -1;
    for (const WireInfo* input : batches) known = std::max(known, input->shape.dim_size(0));
    unknown = known < 0;
    for (WireInfo* input : batches) {
      if (input->shape.dims() < 1 || input->shape.dim_size(0) >= 0) continue;
      Shape sizes = input->shape.sizes();
      sizes.front() = unknown ? 1 : known;
      input->shape = PartialTensorShape(sizes);
    }
  }
};

Shape result_of(const Geometry& geometry, const ConvForm& form, const SizeList& sizes) {
  const bool filter = form.depthwise && geometry.direction == Direction::filter_grad;
  return filter ? sizes.numbers : result_shape(geometry);
}

// As much as ranks alone tell.
PartialTensorShape unknown_result(const ConvForm& form, const std::optional<SizeList>& sizes) {
  const auto rank = static_cast<std::size_t>(info(form.op).rank) + 2;
  if (sizes && sizes->rank == 1 && sizes->numbers.size() == rank) return PartialTensorShape(sizes->numbers);
  return PartialTensorShape(Shape(rank, -1));
}

bool are_known(const Parts& parts, const std::optional<SizeList>& sizes) {
  return sizes && parts.first->shape.IsFullyDefined() && parts.second->shape.IsFullyDefined();
}

Result<Geometry> validated(const NodeView& node, const ConvForm& form, const Parts& parts, const SizeList& sizes) {
  const Call call = call_of(node, form, parts, sizes);
  ConvCall view = call.owned.view();
  view.second_dtype = call.second_dtype;
  return validate(view);
}

// The six ops are closed under differentiation. With y = x * w:
//   forward:       dx = input(shape x, w, dy)         dw = filter(x, shape w, dy)
//   filter grad:   dx = input(shape x, ddw, dy)       ddy = forward(x, ddw)
//   input grad:    dw = filter(ddx, shape w, dy)      ddy = forward(ddx, w)
std::vector<Output> gradient(const NodeGradient& g) {
  const string& name = g.node.type_string();
  const bool depthwise = name.starts_with("Depthwise");
  const string family = depthwise ? "DepthwiseConv2dNative" : name.substr(0, 6);
  const string suffix = family == "Conv3D" ? "V2" : "";
  const string filter_op = family + "BackpropFilter" + suffix, input_op = family + "BackpropInput" + suffix;
  const AttrMap attrs = g.attrs({"strides", "padding", "explicit_paddings", "data_format", "dilations"});
  const Output dy = g.dy[0];
  const auto shape = [&](const Output& of) { return g.op("Shape", {of}); };
  if (name.find("BackpropFilter") != string::npos) {
    return {g.op(input_op, {shape(g.x(0)), dy, g.x(2)}, attrs), NoGradient(), g.op(family, {g.x(0), dy}, attrs)};
  }
  if (name.find("BackpropInput") != string::npos) {
    return {NoGradient(), g.op(filter_op, {dy, shape(g.x(1)), g.x(2)}, attrs), g.op(family, {dy, g.x(1)}, attrs)};
  }
  return {g.op(input_op, {shape(g.x(0)), g.x(1), dy}, attrs), g.op(filter_op, {g.x(0), shape(g.x(1)), dy}, attrs)};
}

// TensorFlow takes 64-bit sizes for volumes only; here they are taken everywhere.
PinSpec sizes_pin(const ConvForm& form, const string& tensor) {
  if (form.sizes_of_tensor) return {tensor, "T", concat("A tensor of the ", tensor, "'s shape.")};
  return {tensor + "_sizes", "Tshape", concat("Shape of the ", tensor, ".")};
}

std::vector<PinSpec> pins_of(const ConvForm& form) {
  const PinSpec input{"input", "T", "Images or volumes, in data_format order."};
  const PinSpec filter{"filter", "T",
                       form.depthwise ? "[height, width, channels, multiplier]." : "[spatial..., in / groups, out]."};
  const PinSpec dy{"out_backprop", "T", "Gradient with respect to the convolution's output."};
  switch (info(form.op).direction) {
    case Direction::filter_grad: return {input, sizes_pin(form, "filter"), dy};
    case Direction::input_grad: return {sizes_pin(form, "input"), filter, dy};
    default: return {input, filter};
  }
}

std::vector<AttrSpec> attrs_of(const ConvForm& form) {
  const OpInfo& op = info(form.op);
  std::vector<DataType> types = floating_types();
  if (takes(form.op, DType::i32)) types.push_back(DT_INT32);
  std::vector<AttrSpec> attrs = {
      integers("strides", "Step of the window, one a dimension in data_format order; 1 for batch and channels."),
      choice("padding", "SAME, VALID, or EXPLICIT with explicit_paddings.", {"SAME", "VALID", "EXPLICIT"}),
      integers("explicit_paddings", "Zeros before and after each dimension, with EXPLICIT padding.",
               std::vector<int64>{}),
      choice(
          "data_format", "Order of the dimensions.",
          {string(data_format(Layout::channels_last, op.rank)), string(data_format(Layout::channels_first, op.rank))},
          string(data_format(Layout::channels_last, op.rank))),
      integers("dilations", "Distance between the elements of the window, one a dimension.",
               std::vector<int64>(static_cast<std::size_t>(op.rank) + 2, 1)),
      type_of_inputs("T", types)};
  if (op.rank == 2 && !form.depthwise)
    attrs.insert(attrs.begin() + 2, flag("use_cudnn_on_gpu", "Taken and not used, as it changes no result.", true));
  if (op.direction != Direction::forward && !form.sizes_of_tensor)
    attrs.push_back(type_of_inputs("Tshape", {DT_INT32, DT_INT64}));
  return attrs;
}

}  // namespace

Result<Geometry> conv_geometry(const NodeView& node, const ConvForm& form) {
  const Parts parts = parts_of(node, info(form.op).direction);
  const std::optional<SizeList> sizes = sizes_of(parts, form);
  if (are_known(parts, sizes)) return validated(node, form, parts, *sizes);
  return node.refuse({.rule = Rule::graph_shape,
                      .argument = sizes ? "input" : "sizes",
                      .reason = "the shapes of this convolution are known only when it runs",
                      .got = concat(parts.first->shape.DebugString(), " and ", parts.second->shape.DebugString()),
                      .wanted = "known shapes and sizes"});
}

Result<Inferred> infer_conv(const NodeView& given, const ConvForm& form) {
  const Direction direction = info(form.op).direction;
  const Batched batched(given, form);
  const NodeView node{given.op, given.attrs, batched.inputs};
  const Parts parts = parts_of(node, direction);
  const std::optional<SizeList> sizes = sizes_of(parts, form);
  if (!are_known(parts, sizes)) return Inferred{{unknown_result(form, sizes)}};
  const Result<Geometry> geometry = validated(node, form, parts, *sizes);
  if (!geometry.ok()) return geometry.status();
  Shape result = result_of(*geometry, form, *sizes);
  if (batched.unknown && direction == Direction::forward) result.front() = -1;
  return Inferred{{PartialTensorShape(result)}};
}

Result<std::vector<Tensor>> run_conv(const NodeRun& run, const ConvForm& form) {
  const Parts parts = parts_of(run.node, info(form.op).direction);
  const std::optional<SizeList> sizes = sizes_of(parts, form);
  const Call call = call_of(run.node, form, parts, *sizes);
  const OwnedCall& owned = call.owned;
  const Shape given_sizes = form.depthwise && !owned.filter ? grouped_filter(owned.sizes) : owned.sizes;
  OpOperands operands{*parts.first->value->view(), *parts.second->value->view(), given_sizes};
  if (form.depthwise && owned.filter)
    (info(form.op).direction == Direction::forward ? operands.second : operands.first).shape =
        grouped_filter(*owned.filter);
  Result<convgrad::Tensor> result = compute(form.op, operands,
                                            {.strides = owned.strides,
                                             .padding = {owned.padding, owned.explicit_paddings},
                                             .dilations = owned.dilations,
                                             .data_format = owned.data_format,
                                             .policy = run.policy});
  if (!result.ok()) return result.status();
  Tensor tensor = Tensor::from(*result);
  if (form.depthwise && !tensor.CopyFrom(Tensor(tensor), TensorShape(run.shapes[0])))
    return convgrad::Status::internal("a depthwise result has not its shape");
  return std::vector<Tensor>{std::move(tensor)};
}

OpRow conv_row(string name, string doc, InferFn infer, RunFn run, const ConvForm& form) {
  return {.spec = {.name = std::move(name),
                   .group = info(form.op).rank == 3 ? "Convolution 3-D" : "Convolution 2-D",
                   .doc = std::move(doc),
                   .inputs = pins_of(form),
                   .outputs = {{"output", "T", "The result."}},
                   .attrs = attrs_of(form)},
          .infer = infer,
          .run = run,
          .gradient = gradient};
}

}  // namespace convgrad::graph

// What depthwise ops ask beside the rules of the grouped ops, and the filter's shape in both readings.
#include "geometry/depthwise.h"

#include <limits>

#include "base/rules.h"
#include "base/text.h"

namespace convgrad {
namespace {

ConvCall::Numbers stated_filter(const ConvCall& call) {
  return info(call.op).direction == Direction::filter_grad ? call.sizes : call.filter.value_or(ConvCall::Numbers{});
}

ConvCall::Numbers stated_input(const ConvCall& call) {
  return info(call.op).direction == Direction::input_grad ? call.sizes : call.input.value_or(ConvCall::Numbers{});
}

}  // namespace

std::string_view depthwise_name(Direction direction) {
  switch (direction) {
    case Direction::input_grad: return "DepthwiseConv2dNativeBackpropInput";
    case Direction::filter_grad: return "DepthwiseConv2dNativeBackpropFilter";
    default: return "DepthwiseConv2dNative";
  }
}

std::optional<NamedOp> named_op(std::string_view name) {
  if (const std::optional<Op> op = op_from_name(name)) return NamedOp{*op, false};
  for (const OpInfo& row : all_ops()) {
    if (row.rank == 2 && name == depthwise_name(row.direction)) return NamedOp{row.op, true};
  }
  return std::nullopt;
}

std::vector<std::string_view> op_names() {
  std::vector<std::string_view> names;
  for (const OpInfo& row : all_ops()) names.push_back(row.name);
  for (const OpInfo& row : all_ops()) {
    if (row.rank == 2) names.push_back(depthwise_name(row.direction));
  }
  return names;
}

GroupedCall::GroupedCall(const ConvCall& depthwise) : call_(depthwise) {
  const ConvCall::Numbers stated = stated_filter(depthwise);
  if (stated.size() != filter_.size() || stated[2] < 0 || stated[3] < 0) return;  // for the rules to refuse
  const Wide channels = Wide{stated[2]} * stated[3];
  if (channels > std::numeric_limits<std::int64_t>::max()) return;
  filter_ = {stated[0], stated[1], 1, static_cast<std::int64_t>(channels)};
  if (info(call_.op).direction == Direction::filter_grad) {
    call_.sizes = filter_;
  } else {
    call_.filter = filter_;
  }
}

Status depthwise_channels(const ConvCall& call) {
  const Direction direction = info(call.op).direction;
  const ConvCall::Numbers filter = stated_filter(call), input = stated_input(call);
  if (direction == Direction::input_grad && input.size() == 2) {
    return refuse(depthwise_name(direction), {.rule = Rule::size_vector_length,
                                              .argument = "input_sizes",
                                              .reason = "input_sizes must have 4 entries",
                                              .got = concat("2 entries ", to_text(input)),
                                              .wanted = "4 sizes"});
  }
  if (filter.size() != 4 || input.size() != 4) return {};  // for the rules to refuse
  const std::int64_t channels = call.data_format == "NCHW" ? input[1] : input[3];
  if (filter[2] == channels) return {};
  return refuse(depthwise_name(direction),
                {.rule = Rule::channel_mismatch,
                 .argument = direction == Direction::filter_grad ? "filter_sizes" : "filter",
                 .reason = concat("input and filter must have the same depth: ", channels, " vs ", filter[2]),
                 .got = to_text(filter),
                 .wanted = concat(channels, " channels, as the input")});
}

}  // namespace convgrad

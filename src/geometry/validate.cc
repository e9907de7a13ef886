// The only validator. A rule is one small function (checks.h); an op is the list of its rules, in the order in
// which TensorFlow's CPU kernel looks at them, so that a call with two faults gets the same answer.
// What TensorFlow refuses only because its CPU kernels lack it (channels-first, dilation, groups)
// is legal here.
#include "geometry/checks.h"
#include "geometry/depthwise.h"
#include "geometry/problem_call.h"

namespace convgrad {
namespace {

// clang-format off: one stage of TensorFlow's kernel a line
constexpr Check* kForward2D[] = {
    dtype_allowed, padding_known, format_known,
    dilations_length, strides_length, strides_nc, strides_positive, dilations_nc, dilations_positive, padding_list,
    input_rank, filter_rank, stated_out_rank, filter_channels_positive, input_channels_multiple,
    windows, filter_not_empty_for_output, groups_divide, all_fit};

constexpr Check* kFilterGrad2D[] = {
    dtype_allowed, padding_known, format_known,
    strides_length, strides_nc, strides_positive, padding_list, dilations_length, dilations_nc, dilations_positive,
    size_vector_is_vector, filter_sizes_entries, input_rank, filter_sizes_length, out_backprop_rank,
    batch_equal, filter_channels_positive, input_channels_multiple, out_channels_equal,
    windows, groups_divide, all_fit};

constexpr Check* kInputGrad2D[] = {
    dtype_allowed, padding_known, format_known,
    strides_length, strides_nc, strides_positive, dilations_length, dilations_nc, dilations_positive, padding_list,
    out_backprop_rank, size_vector_is_vector, input_sizes_2d, filter_rank, input_sizes_pair,
    batch_equal, filter_channels_positive, input_channels_multiple, out_channels_equal,
    windows, groups_divide, all_fit};

constexpr Check* kForward3D[] = {
    dtype_allowed, strides_minimum, padding_known, format_known,
    strides_length, strides_nc, strides_positive, dilations_length, dilations_nc, dilations_positive, padding_list,
    input_rank, filter_rank, stated_out_rank, filter_channels_positive, input_channels_multiple,
    filter_not_empty, windows, groups_divide, all_fit};

constexpr Check* kFilterGrad3D[] = {
    dtype_allowed, strides_minimum, padding_known, format_known,
    dilations_length, dilations_nc, dilations_positive, strides_length, strides_nc, padding_list,
    size_vector_is_vector, filter_sizes_entries, input_rank, filter_sizes_length, out_backprop_rank,
    input_channels_not_lost, filter_channels_positive, input_channels_multiple, out_channels_equal, batch_equal,
    windows, some_work, groups_divide, all_fit};

constexpr Check* kInputGrad3D[] = {
    dtype_allowed, strides_minimum, padding_known, format_known,
    dilations_length, dilations_nc, dilations_positive, strides_length, strides_nc, padding_list,
    size_vector_is_vector, input_sizes_3d, filter_rank, out_backprop_rank,
    input_channels_not_lost, filter_channels_positive, input_channels_multiple, out_channels_equal, batch_equal,
    windows, some_work, groups_divide, all_fit};
// clang-format on

std::span<Check* const> checks_of(const OpInfo& op) {
  const bool volume = op.rank == 3;
  switch (op.direction) {
    case Direction::forward: return volume ? std::span<Check* const>(kForward3D) : kForward2D;
    case Direction::input_grad: return volume ? std::span<Check* const>(kInputGrad3D) : kInputGrad2D;
    case Direction::filter_grad:
    case Direction::bias_grad: return volume ? std::span<Check* const>(kFilterGrad3D) : kFilterGrad2D;
  }
  return {};
}

template <class Enum>
bool in_range(Enum value, int count) {
  return static_cast<int>(value) >= 0 && static_cast<int>(value) < count;
}

Status refuse_enum(Rule rule, std::string_view field, int got, std::string_view wanted) {
  return refuse("problem", {.rule = rule,
                            .argument = field,
                            .reason = concat(field, " is out of range"),
                            .got = concat(got),
                            .wanted = std::string(wanted)});
}

Status enums_in_range(const ConvProblem& p) {
  if (p.rank < 1 || p.rank > 3) {
    return refuse("problem", {.rule = Rule::rank,
                              .argument = "rank",
                              .reason = "a problem has 1, 2 or 3 spatial dimensions",
                              .got = concat(p.rank),
                              .wanted = "1, 2 or 3"});
  }
  if (!in_range(p.direction, 4))
    return refuse_enum(Rule::problem_string, "direction", static_cast<int>(p.direction),
                       "forward, input_grad, filter_grad or bias_grad");
  if (!in_range(p.layout, 2))
    return refuse_enum(Rule::problem_string, "layout", static_cast<int>(p.layout), "channels_last or channels_first");
  if (!in_range(p.padding, 3))
    return refuse_enum(Rule::problem_string, "padding", static_cast<int>(p.padding), "same, valid or explicit_pairs");
  if (!in_range(p.dtype, static_cast<int>(all_dtypes().size())))
    return refuse_enum(Rule::dtype, "dtype", static_cast<int>(p.dtype), "a row of dtypes.inc");
  return {};
}

// A call that says depthwise is one of GroupedCall.
Result<Geometry> checked(const ConvCall& call, const Limits& limits) {
  Work work(call, limits);
  work.g.direction = work.op.direction;
  work.g.dtype = call.dtype;
  work.g.rank = work.op.rank;
  for (Check* check : checks_of(work.op)) CONVGRAD_RETURN_IF_ERROR(check(work));
  return work.g;
}

}  // namespace

Result<Geometry> validate(const ConvCall& call, const Limits& limits) {
  if (!in_range(call.op, static_cast<int>(all_ops().size())))
    return refuse_enum(Rule::op_name, "op", static_cast<int>(call.op), "a row of ops.inc");
  if (!in_range(call.dtype, static_cast<int>(all_dtypes().size())))
    return refuse_enum(Rule::dtype, "dtype", static_cast<int>(call.dtype), "a row of dtypes.inc");
  if (!call.depthwise) return checked(call, limits);
  CONVGRAD_RETURN_IF_ERROR(depthwise_channels(call));
  return checked(GroupedCall(call).call(), limits);
}

Status wrong_type(std::string_view argument, std::string_view got, std::string_view wanted) {
  return refuse("call", {.rule = Rule::attr_type,
                         .argument = argument,
                         .reason = concat(argument, " has the wrong type"),
                         .got = std::string(got),
                         .wanted = std::string(wanted)});
}

Result<Geometry> validate(const ConvProblem& problem, const Limits& limits) {
  CONVGRAD_RETURN_IF_ERROR(enums_in_range(problem));
  Result<Geometry> geometry = validate(ProblemCall(problem).call(), limits);
  if (geometry.ok()) geometry->direction = problem.direction;
  return geometry;
}

}  // namespace convgrad

// The eager calls: a ConvCall from the arguments, then geometry, plan, run.
#include "api/guard.h"
#include "api/run.h"
#include "base/rules.h"
#include "convgrad/conv.h"
#include "geometry/problem_call.h"

namespace convgrad {
namespace {

constexpr std::int64_t kOnes[5] = {1, 1, 1, 1, 1};

ConvCall::Numbers or_ones(const std::vector<std::int64_t>& list, int rank) {
  return list.empty() ? ConvCall::Numbers(kOnes, static_cast<std::size_t>(rank) + 2) : ConvCall::Numbers(list);
}

// An op's tensors, in the order of OpOperands; nothing is copied.
struct Given {
  const TensorView& first;
  const TensorView& second;
  Sizes sizes;
};

// The call as the op's users write it.
ConvCall call_of(Op op, const Given& given, const ConvOptions& options) {
  ConvCall call;
  call.op = op;
  const OpInfo& row = info(op);
  call.dtype = given.first.dtype;
  call.second_dtype = given.second.dtype;
  call.set_tensors(given.first.shape, given.second.shape);
  call.sizes = given.sizes;
  call.strides = or_ones(options.strides, row.rank);
  call.dilations = or_ones(options.dilations, row.rank);
  call.padding = options.padding.name;
  call.explicit_paddings = options.padding.pairs;
  call.data_format = options.data_format.empty() ? data_format(Layout::channels_last, row.rank)
                                                 : std::string_view(options.data_format);
  return call;
}

// Of an input of another rank the 2-D one, whose rules refuse it.
Op filter_gradient_of(const Shape& input) {
  const bool known = input.size() >= 3 && input.size() <= 5;
  return op_of(Direction::filter_grad, known ? static_cast<int>(input.size()) - 2 : 2);
}

// A plan and the memory of its result.
struct Planned {
  Plan plan;
  Tensor result;
};

Status in_host_memory(const Place& place) {
  if (place.memory == Memory::host) return {};
  return refuse("policy", {.rule = Rule::device,
                           .argument = "place",
                           .reason = "this call makes its result in the host's memory",
                           .got = "a place in a GPU's memory",
                           .wanted = "make_plan() and run() for tensors there"});
}

Result<Planned> with_result(Result<Plan> plan) {
  if (!plan.ok()) return plan.status();
  Result<Tensor> result = Tensor::zeros(plan->geometry.dtype, result_shape(plan->geometry));
  if (!result.ok()) return result.status();
  return Planned{std::move(*plan), std::move(*result)};
}

Result<Tensor> plan_and_run(const Geometry& geometry, const TensorView& first, const TensorView& second,
                            const Policy& policy) {
  CONVGRAD_RETURN_IF_ERROR(in_host_memory(policy.place));
  Result<Planned> made = with_result(make_plan(geometry, policy));
  if (!made.ok()) return made.status();
  CONVGRAD_RETURN_IF_ERROR(run(made->plan, {first, second, made->result.mutable_view(), {}}, policy));
  return std::move(made->result);
}

Result<Tensor> compute_given(Op op, const Given& given, const ConvOptions& options) {
  return guarded([&]() -> Result<Tensor> {
    const Result<Geometry> geometry = validate(call_of(op, given, options), options.policy.limits);
    if (!geometry.ok()) return geometry.status();
    return plan_and_run(*geometry, given.first, given.second, options.policy);
  });
}

}  // namespace

Result<Tensor> compute(Op op, const OpOperands& operands, const ConvOptions& options) {
  return compute_given(op, {operands.first, operands.second, operands.sizes}, options);
}

Result<Tensor> compute(const ConvProblem& problem, const TensorView& first, const TensorView& second,
                       const Policy& policy) {
  return guarded([&]() -> Result<Tensor> {
    const Result<Geometry> geometry = validate(problem, policy.limits);
    if (!geometry.ok()) return geometry.status();
    return plan_and_run(*geometry, first, second, policy);
  });
}

Result<Tensor> conv2d(const TensorView& input, const TensorView& filter, const ConvOptions& options) {
  return compute_given(Op::conv2d, {input, filter, {}}, options);
}
Result<Tensor> conv3d(const TensorView& input, const TensorView& filter, const ConvOptions& options) {
  return compute_given(Op::conv3d, {input, filter, {}}, options);
}
Result<Tensor> conv2d_backprop_filter(const TensorView& input, Sizes filter_sizes, const TensorView& out_backprop,
                                      const ConvOptions& options) {
  return compute_given(Op::conv2d_backprop_filter, {input, out_backprop, filter_sizes}, options);
}
Result<Tensor> conv3d_backprop_filter_v2(const TensorView& input, Sizes filter_sizes, const TensorView& out_backprop,
                                         const ConvOptions& options) {
  return compute_given(Op::conv3d_backprop_filter_v2, {input, out_backprop, filter_sizes}, options);
}
Result<Tensor> conv2d_backprop_input(Sizes input_sizes, const TensorView& filter, const TensorView& out_backprop,
                                     const ConvOptions& options) {
  return compute_given(Op::conv2d_backprop_input, {filter, out_backprop, input_sizes}, options);
}
Result<Tensor> conv3d_backprop_input_v2(Sizes input_sizes, const TensorView& filter, const TensorView& out_backprop,
                                        const ConvOptions& options) {
  return compute_given(Op::conv3d_backprop_input_v2, {filter, out_backprop, input_sizes}, options);
}
Result<Tensor> conv2d_transpose(const TensorView& input, const TensorView& filter, Sizes output_shape,
                                const ConvOptions& options) {
  return conv2d_backprop_input(output_shape, filter, input, options);
}
Result<Tensor> conv3d_transpose(const TensorView& input, const TensorView& filter, Sizes output_shape,
                                const ConvOptions& options) {
  return conv3d_backprop_input_v2(output_shape, filter, input, options);
}

Result<ConvGradientPlans> plan_gradients(const TensorView& input, const TensorView& filter,
                                         const TensorView& out_backprop, const ConvOptions& options) {
  return guarded([&]() -> Result<ConvGradientPlans> {
    Result<Geometry> geometry = validate(
        call_of(filter_gradient_of(input.shape), {input, out_backprop, filter.shape}, options), options.policy.limits);
    if (!geometry.ok()) return geometry.status();
    ConvGradientPlans plans;
    const std::pair<Direction, Plan*> all[] = {{Direction::filter_grad, &plans.filter},
                                               {Direction::input_grad, &plans.input},
                                               {Direction::bias_grad, &plans.bias}};
    for (const auto& [direction, place] : all) {
      geometry->direction = direction;
      Result<Plan> plan = make_plan(*geometry, options.policy);
      if (!plan.ok()) return plan.status();
      *place = std::move(*plan);
    }
    return plans;
  });
}

Result<ConvGradients> conv_gradients(const TensorView& input, const TensorView& filter, const TensorView& out_backprop,
                                     const ConvOptions& options) {
  return guarded([&]() -> Result<ConvGradients> {
    CONVGRAD_RETURN_IF_ERROR(in_host_memory(options.policy.place));
    Result<ConvGradientPlans> plans = plan_gradients(input, filter, out_backprop, options);
    if (!plans.ok()) return plans.status();
    Result<Planned> for_filter = with_result(std::move(plans->filter));
    if (!for_filter.ok()) return for_filter.status();
    Result<Planned> for_input = with_result(std::move(plans->input));
    if (!for_input.ok()) return for_input.status();
    Result<Planned> for_bias = with_result(std::move(plans->bias));
    if (!for_bias.ok()) return for_bias.status();
    CONVGRAD_RETURN_IF_ERROR(
        run_gradients({.input = {for_input->plan, {filter, out_backprop, for_input->result.mutable_view(), {}}},
                       .filter = {for_filter->plan, {input, out_backprop, for_filter->result.mutable_view(), {}}},
                       .bias = {for_bias->plan, {out_backprop, {}, for_bias->result.mutable_view(), {}}}},
                      options.policy));
    return ConvGradients{std::move(for_input->result), std::move(for_filter->result), std::move(for_bias->result)};
  });
}

}  // namespace convgrad

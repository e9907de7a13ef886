// run(plan, tensors): checks that the tensors are the plan's, makes them contiguous and aligned where
// they are not, and calls the plan's engine.
#include <cstring>

#include "api/guard.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/rules.h"
#include "base/text.h"
#include "base/views.h"
#include "convgrad/plan.h"
#include "engines/engine.h"
#include "geometry/shapes.h"

namespace convgrad {
namespace {

// What run() checks of a tensor, whether it is read or written.
struct Tested {
  std::string_view name;
  const FixedShape& wanted_shape;
  DType wanted_dtype;
};

Status refuse_operand(const Tested& t, Rule rule, std::string reason, std::string got, std::string wanted) {
  return refuse("run", {.rule = rule,
                        .argument = t.name,
                        .reason = std::move(reason),
                        .got = std::move(got),
                        .wanted = std::move(wanted)});
}

template <class View>
Footprint footprint_of(const View& view) {
  return {view.shape, view.byte_strides, static_cast<std::int64_t>(size_of(view.dtype))};
}

template <class View>
Status is_the_plans(const Tested& t, const View& view) {
  if (view.dtype != t.wanted_dtype) {
    return refuse_operand(t, Rule::dtype, concat(t.name, " has not the plan's element type"),
                          std::string(info(view.dtype).id), std::string(info(t.wanted_dtype).id));
  }
  if (!std::equal(view.shape.begin(), view.shape.end(), t.wanted_shape.span().begin(), t.wanted_shape.span().end())) {
    return refuse_operand(t, Rule::operand_shape, concat(t.name, " has not the plan's shape"), to_text(view.shape),
                          to_text(t.wanted_shape.span()));
  }
  if (!view.byte_strides.empty() && view.byte_strides.size() != view.shape.size()) {
    return refuse_operand(t, Rule::operand_data, concat(t.name, ".byte_strides has not one entry a dimension"),
                          concat(view.byte_strides.size(), " entries"), concat(view.shape.size(), " entries, or none"));
  }
  if (view.data == nullptr && t.wanted_shape.elements() > 0) {
    return refuse_operand(t, Rule::operand_data, concat(t.name, " has no memory"), "a null pointer",
                          "the address of its first element");
  }
  if (!byte_range(footprint_of(view))) {
    return refuse_operand(t, Rule::operand_data, concat(t.name, ".byte_strides reach beyond the address space"),
                          to_text(view.byte_strides), "smaller strides");
  }
  return {};
}

// Whether the engine can use the memory as it is.
template <class View>
bool direct(const View& view) {
  return view.byte_strides.empty() && reinterpret_cast<std::uintptr_t>(view.data) % size_of(view.dtype) == 0;
}

bool share_memory(const TensorView& a, const MutableTensorView& b) {
  const ByteRange ra = *byte_range(footprint_of(a)), rb = *byte_range(footprint_of(b));
  if (ra.begin == ra.end || rb.begin == rb.end) return false;
  const auto pa = reinterpret_cast<std::intptr_t>(a.data), pb = reinterpret_cast<std::intptr_t>(b.data);
  return pa + ra.begin < pb + rb.end && pb + rb.begin < pa + ra.end;
}

Status result_is_apart(const Tested& result, const RunArgs& args, int operand_count) {
  if (overlaps_itself(footprint_of(args.result))) {
    return refuse_operand(result, Rule::operand_overlap, "result.byte_strides let two elements share memory",
                          to_text(args.result.byte_strides), "every element in a place of its own");
  }
  if (share_memory(args.first, args.result) || (operand_count == 2 && share_memory(args.second, args.result))) {
    return refuse_operand(result, Rule::operand_overlap, "result shares memory with an operand", "overlapping memory",
                          "memory of its own");
  }
  return {};
}

Status workspace_suffices(const Plan& plan, const Workspace& workspace) {
  if (plan.workspace_bytes == 0 || workspace.data == nullptr) return {};
  if (static_cast<std::int64_t>(workspace.bytes) < plan.workspace_bytes) {
    return refuse("run", {.rule = Rule::workspace,
                          .argument = "workspace",
                          .reason = "the workspace is too small",
                          .got = concat(workspace.bytes, " bytes"),
                          .wanted = concat(plan.workspace_bytes, " bytes"),
                          .code = StatusCode::resource_exhausted});
  }
  if (reinterpret_cast<std::uintptr_t>(workspace.data) % kBufferAlignment != 0) {
    return refuse("run", {.rule = Rule::workspace,
                          .argument = "workspace",
                          .reason = "the workspace is misaligned",
                          .got = "another address",
                          .wanted = concat("a multiple of ", kBufferAlignment, " bytes")});
  }
  return {};
}

Result<const Engine*> engine_of(const Plan& plan) {
  for (const Engine& engine : engines()) {
    if (engine.name == plan.engine) return &engine;
  }
  return refuse("run", {.rule = Rule::engine_name,
                        .argument = "plan",
                        .reason = "the plan names an engine that is not here",
                        .got = concat("\"", plan.engine, "\""),
                        .wanted = "a plan from make_plan()"});
}

// An operand where the engine wants it: its own memory, or a copy that lives in `copy`.
Result<const void*> placed(const TensorView& view, std::optional<Tensor>& copy) {
  if (direct(view)) return view.data;
  Result<Tensor> made = contiguous_copy(view);
  if (!made.ok()) return made.status();
  copy = std::move(*made);
  return static_cast<const void*>(copy->data());
}

Status run_engine(const Plan& plan, const RunArgs& args, const Policy& policy) {
  const Result<const Engine*> engine = engine_of(plan);
  if (!engine.ok()) return engine.status();
  std::optional<Tensor> first_copy, second_copy;
  std::shared_ptr<void> result_copy;
  const bool needs_scratch = plan.workspace_bytes > 0 && args.workspace.data == nullptr;
  const Scratch scratch(needs_scratch ? static_cast<std::size_t>(plan.workspace_bytes) : 0);
  if (needs_scratch && scratch.data() == nullptr) return Status::out_of_memory();
  EngineArgs placed_args{nullptr, nullptr, args.result.data, needs_scratch ? scratch.data() : args.workspace.data};
  const Result<const void*> first = placed(args.first, first_copy);
  if (!first.ok()) return first.status();
  placed_args.first = *first;
  if (plan.geometry.direction != Direction::bias_grad) {
    const Result<const void*> second = placed(args.second, second_copy);
    if (!second.ok()) return second.status();
    placed_args.second = *second;
  }
  if (!direct(args.result)) {
    result_copy = aligned_buffer(static_cast<std::size_t>(fixed_result_shape(plan.geometry).elements()) *
                                 size_of(plan.geometry.dtype));
    if (result_copy == nullptr) return Status::out_of_memory();
    placed_args.result = result_copy.get();
  }
  CONVGRAD_RETURN_IF_ERROR((*engine)->run(plan, placed_args, policy));
  if (result_copy != nullptr) scatter(footprint_of(args.result), result_copy.get(), args.result.data);
  return {};
}

Status check_and_run(const Plan& plan, const RunArgs& args, const Policy& policy) {
  const FixedOperands wanted = fixed_operands(plan.geometry);
  const FixedShape wanted_result = fixed_result_shape(plan.geometry);
  const DType dtype = plan.geometry.dtype;
  const TensorView* given[] = {&args.first, &args.second};
  for (int i = 0; i < wanted.count; ++i) {
    CONVGRAD_RETURN_IF_ERROR(is_the_plans({wanted.operand[i].name, wanted.operand[i].shape, dtype}, *given[i]));
  }
  const Tested result{"result", wanted_result, dtype};
  CONVGRAD_RETURN_IF_ERROR(is_the_plans(result, args.result));
  CONVGRAD_RETURN_IF_ERROR(result_is_apart(result, args, wanted.count));
  CONVGRAD_RETURN_IF_ERROR(workspace_suffices(plan, args.workspace));
  return run_engine(plan, args, policy);
}

}  // namespace

Status run(const Plan& plan, const RunArgs& args, const Policy& policy) {
  return guarded([&]() -> Status { return check_and_run(plan, args, policy); });
}

}  // namespace convgrad

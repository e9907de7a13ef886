// run(plan, tensors): checks that the tensors are the plan's, makes them contiguous and aligned where
// they are not, and calls the plan's engine.
#include <cstring>

#include "api/guard.h"
#include "api/run.h"
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

// Nothing reads a GPU's memory here, so nothing there is copied into shape: an engine must be able to use it as it is.
template <class View>
Status is_usable_on_device(const Tested& t, const View& view) {
  if (!view.byte_strides.empty()) {
    return refuse_operand(t, Rule::operand_data, concat(t.name, " lies in a GPU's memory and has byte_strides"),
                          to_text(view.byte_strides), "a contiguous tensor, without byte_strides");
  }
  const std::size_t size = size_of(view.dtype);
  if (const auto beyond = reinterpret_cast<std::uintptr_t>(view.data) % size; beyond != 0) {
    return refuse_operand(t, Rule::operand_data, concat(t.name, " lies in a GPU's memory and is misaligned"),
                          concat("an address ", beyond, " bytes beyond a multiple of ", size),
                          concat("a multiple of its elements' size, ", size, " bytes"));
  }
  return {};
}

template <class View>
Status is_usable(const Plan& plan, const Tested& t, const View& view) {
  CONVGRAD_RETURN_IF_ERROR(is_the_plans(t, view));
  return plan.place.memory == Memory::host ? Status() : is_usable_on_device(t, view);
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
    const bool reaches = plan.place.memory == Memory::host || plan.place.memory == engine.home;
    if (engine.name == plan.engine && reaches) return &engine;
  }
  return refuse("run", {.rule = Rule::engine_name,
                        .argument = "plan",
                        .reason = "the plan names an engine that is not here, or cannot reach its tensors",
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

// What a plan's engine is given: the tensors where it wants them, and a workspace.
class Placement {
 public:
  Placement(const Plan& plan, const RunArgs& args)
      : plan_(plan),
        given_(args),
        needs_scratch_(plan.place.memory == Memory::host && plan.workspace_bytes > 0 && args.workspace.data == nullptr),
        scratch_(needs_scratch_ ? static_cast<std::size_t>(plan.workspace_bytes) : 0) {}

  Status prepare() {
    if (needs_scratch_ && scratch_.data() == nullptr) return Status::out_of_memory();
    args_ = {nullptr, nullptr, given_.result.data, needs_scratch_ ? scratch_.data() : given_.workspace.data,
             given_.stream};
    const Result<const void*> first = placed(given_.first, first_copy_);
    if (!first.ok()) return first.status();
    args_.first = *first;
    if (plan_.geometry.direction != Direction::bias_grad) {
      const Result<const void*> second = placed(given_.second, second_copy_);
      if (!second.ok()) return second.status();
      args_.second = *second;
    }
    return direct(given_.result) ? Status() : place_result();
  }

  EngineRun run() const { return {plan_, args_}; }

  // The result to where the caller wants it.
  void finish() const {
    if (result_copy_ != nullptr) scatter(footprint_of(given_.result), result_copy_.get(), given_.result.data);
  }

 private:
  Status place_result() {
    const auto elements = static_cast<std::size_t>(fixed_result_shape(plan_.geometry).elements());
    result_copy_ = aligned_buffer(elements * size_of(plan_.geometry.dtype));
    args_.result = result_copy_.get();
    return result_copy_ == nullptr ? Status::out_of_memory() : Status();
  }

  const Plan& plan_;
  const RunArgs& given_;
  const bool needs_scratch_;
  const Scratch scratch_;
  std::optional<Tensor> first_copy_, second_copy_;
  std::shared_ptr<void> result_copy_;
  EngineArgs args_{};
};

Status check(const Plan& plan, const RunArgs& args) {
  const FixedOperands wanted = fixed_operands(plan.geometry);
  const FixedShape wanted_result = fixed_result_shape(plan.geometry);
  const DType dtype = plan.geometry.dtype;
  const TensorView* given[] = {&args.first, &args.second};
  for (int i = 0; i < wanted.count; ++i) {
    CONVGRAD_RETURN_IF_ERROR(is_usable(plan, {wanted.operand[i].name, wanted.operand[i].shape, dtype}, *given[i]));
  }
  const Tested result{"result", wanted_result, dtype};
  CONVGRAD_RETURN_IF_ERROR(is_usable(plan, result, args.result));
  CONVGRAD_RETURN_IF_ERROR(result_is_apart(result, args, wanted.count));
  return workspace_suffices(plan, args.workspace);
}

Status check_and_run(const Plan& plan, const RunArgs& args, const Policy& policy) {
  CONVGRAD_RETURN_IF_ERROR(check(plan, args));
  const Result<const Engine*> engine = engine_of(plan);
  if (!engine.ok()) return engine.status();
  Placement placement(plan, args);
  CONVGRAD_RETURN_IF_ERROR(placement.prepare());
  CONVGRAD_RETURN_IF_ERROR((*engine)->run(plan, placement.run().args, policy));
  placement.finish();
  return {};
}

// The engine that has all three plans and is faster in one go; null: there is none.
const Engine* common_engine(const GradientRuns& runs) {
  const Result<const Engine*> engine = engine_of(runs.input.plan);
  if (!engine.ok() || (*engine)->gains_together == nullptr) return nullptr;
  const bool same = runs.filter.plan.engine == (*engine)->name && runs.bias.plan.engine == (*engine)->name;
  const bool gains = same && (*engine)->gains_together({runs.input.plan, runs.filter.plan, runs.bias.plan});
  return gains ? *engine : nullptr;
}

Status run_in_one_go(const Engine& engine, const GradientRuns& runs, const Policy& policy) {
  Placement input(runs.input.plan, runs.input.args), filter(runs.filter.plan, runs.filter.args),
      bias(runs.bias.plan, runs.bias.args);
  Placement* all[] = {&input, &filter, &bias};
  for (Placement* placement : all) CONVGRAD_RETURN_IF_ERROR(placement->prepare());
  CONVGRAD_RETURN_IF_ERROR(engine.run_gradients({input.run(), filter.run(), bias.run()}, policy));
  for (const Placement* placement : all) placement->finish();
  return {};
}

}  // namespace

Status run(const Plan& plan, const RunArgs& args, const Policy& policy) {
  return guarded([&]() -> Status { return check_and_run(plan, args, policy); });
}

Status run_gradients(GradientRuns runs, const Policy& policy) {
  PlanRun* all[] = {&runs.input, &runs.filter, &runs.bias};
  for (const PlanRun* run : all) CONVGRAD_RETURN_IF_ERROR(check(run->plan, run->args));
  std::optional<Tensor> copy;
  if (const TensorView& dy = runs.bias.args.first; !direct(dy)) {
    Result<Tensor> made = contiguous_copy(dy);
    if (!made.ok()) return made.status();
    copy = std::move(*made);
    runs.input.args.second = runs.filter.args.second = runs.bias.args.first = *copy;
  }
  if (const Engine* engine = common_engine(runs)) return run_in_one_go(*engine, runs, policy);
  for (const PlanRun* run : all) CONVGRAD_RETURN_IF_ERROR(check_and_run(run->plan, run->args, policy));
  return {};
}

}  // namespace convgrad

// The CPU engine's row: every problem, by register tiles.
#include <algorithm>
#include <typeinfo>
#include <variant>

#include "base/rules.h"
#include "base/text.h"
#include "engines/cpu/filter_grad.h"
#include "engines/cpu/filter_pairs.h"
#include "engines/cpu/gather.h"
#include "engines/cpu/isa.h"
#include "engines/cpu/patches.h"
#include "engines/cpu/small.h"
#include "engines/cpu/together.h"
#include "engines/engine.h"
#include "engines/spread.h"
#include "geometry/shapes.h"

namespace convgrad::cpu {
namespace {

// A sum without terms: the result is all zeros.
struct NothingToAdd {};

struct Program final : EngineProgram {
  const Kernels* kernels = nullptr;
  Geometry geometry;
  std::int64_t workspace_bytes = 0;
  std::variant<NothingToAdd, SmallProgram, GatherProgram, FilterProgram, FilterPairsProgram> work;
};

bool gathers(const Geometry& g) { return g.direction == Direction::forward || g.direction == Direction::input_grad; }

// Pairs round otherwise than fused multiply-adds in f32, which every CPU with AVX2 or NEON has.
const PairKernels* pairs_for(const Policy& policy) {
  return policy.math == MathMode::canonical ? nullptr : chosen_pairs();
}

// Memory beside tensors and packed filter: 16 MB for all workers, or 4 for each where there are more than four.
constexpr std::int64_t kBenchBytes = std::int64_t{4} << 20;
constexpr std::int64_t kAllBenchBytes = std::int64_t{16} << 20;

std::int64_t& workers_of(GatherProgram& p) { return p.workers; }
std::int64_t& workers_of(FilterProgram& p) { return p.workers; }

// Packed filter, or partial sums of the slices.
template <class Work>
std::int64_t shared_bytes(Work work, DType dtype) {
  workers_of(work) = 0;
  return workspace_bytes(work, dtype);
}

// Of one worker.
template <class Work>
std::int64_t bench_bytes(Work work, DType dtype) {
  workers_of(work) = 1;
  return workspace_bytes(work, dtype) - shared_bytes(work, dtype);
}

// `taken` of the memory is in use already.
template <class Work>
void limit_workers(Work& work, DType dtype, std::int64_t taken) {
  std::int64_t& workers = workers_of(work);
  if (workers == 1) return;
  const std::int64_t allowed = std::max(kAllBenchBytes, kBenchBytes * workers) - taken;
  workers = std::clamp<std::int64_t>(allowed / std::max<std::int64_t>(1, bench_bytes(work, dtype)), 1, workers);
}

// Far-reaching taps bring much more than a region into a worker's memory: where that is too much, regions are made
// smaller. A program that runs instead is cut by itself.
GatherProgram gather_in_memory(const Geometry& g, const Kernels& kernels, const Policy& policy,
                               const PairKernels* pairs) {
  Policy narrower = policy;
  const auto program = [&] {
    GatherProgram p = gather_program(g, kernels, narrower, pairs);
    p.exact = nullptr;
    return p;
  };
  GatherProgram p = program();
  while (bench_bytes(p, g.dtype) > kAllBenchBytes && volume(p.region) > 1) {
    Knobs knobs = narrower.knobs.value_or(Knobs{});
    knobs.most_region = volume(p.region) / 2;
    narrower.knobs = knobs;
    p = program();
  }
  limit_workers(p, g.dtype, 0);
  if (needs_exact(p)) p.exact = std::make_shared<GatherProgram>(gather_in_memory(g, kernels, policy, nullptr));
  return p;
}

std::shared_ptr<Program> program_of(const Geometry& g, const Policy& policy) {
  auto program = std::make_shared<Program>();
  program->kernels = chosen_kernels();
  program->geometry = g;
  const PairKernels* pairs = pairs_for(policy);
  if (!has_terms(g)) return program;
  if (is_small(g)) {
    program->work = small_program(g);
  } else if (gathers(g)) {
    program->work = gather_in_memory(g, *program->kernels, policy, pairs);
  } else if (std::optional<FilterPairsProgram> in_pairs =
                 pairs == nullptr ? std::nullopt : filter_pairs_program(g, policy, *pairs)) {
    limit_workers(in_pairs->exact, g.dtype, shared_bytes(in_pairs->exact, g.dtype));
    program->work = std::move(*in_pairs);
  } else {
    FilterProgram filter = filter_program(g, policy);
    limit_workers(filter, g.dtype, shared_bytes(filter, g.dtype));
    program->work = std::move(filter);
  }
  return program;
}

struct Form {
  std::string_view name;
  std::string_view why;
  double share;  // of the CPU's multiply-add peak that it reaches, roughly; only engines are compared by it
};
constexpr Form kZeros{"zeros", "no sum has a term: the result is cleared", 1};
constexpr Form kSmall{"small", "too few terms for tiles: one loop over a list of them, sums in double", 0.02};
constexpr Form kGatherForms[] = {
    {"dense", "result channels in lanes, source pixels in rows, the filter packed into panels", 0.8},
    {"dot", "few result channels: lanes along the source channels", 0.5},
    {"lanes", "depthwise or small groups: lanes are channels of many groups", 0.2},
    {"dense", "bf16 multiplied in pairs and added in f32: source pixels in rows, the filter in pair form", 0.5}};
constexpr Form kFilterForms[] = {
    {"dense", "output channels in lanes, input channels in rows, summed over pixels", 0.7},
    {"dense_swapped", "input channels in lanes, output channels in rows, as suits their numbers, summed over pixels",
     0.6},
    {"lanes", "depthwise or small groups: lanes are channels of many groups", 0.2},
    {"ones", "a plain sum over pixels", 0.2}};
constexpr Form kFilterPairs{
    "dense", "bf16 multiplied in pairs of pixels and added in f32: input channels in rows, output channels in columns",
    0.4};

const Form& form_of(const Program& program) {
  if (const auto* p = std::get_if<GatherProgram>(&program.work)) return kGatherForms[static_cast<int>(p->form)];
  if (const auto* p = std::get_if<FilterProgram>(&program.work)) return kFilterForms[static_cast<int>(p->form)];
  if (std::holds_alternative<FilterPairsProgram>(program.work)) return kFilterPairs;
  return std::holds_alternative<SmallProgram>(program.work) ? kSmall : kZeros;
}

// Null for programs that add in the tensors' accumulator type throughout.
const PairKernels* pairs_of(const Program& program) {
  if (const auto* p = std::get_if<GatherProgram>(&program.work)) return p->pairs;
  if (const auto* p = std::get_if<FilterPairsProgram>(&program.work)) return p->pairs;
  return nullptr;
}

// What the filter gradient's work is cut into; null for other programs.
const FilterProgram* filter_cut(const Program& program) {
  if (const auto* p = std::get_if<FilterPairsProgram>(&program.work)) return &p->cut;
  return std::get_if<FilterProgram>(&program.work);
}

std::int64_t bytes_of(const Program& program, DType dtype) {
  if (const auto* p = std::get_if<GatherProgram>(&program.work)) return workspace_bytes(*p, dtype);
  if (const auto* p = std::get_if<FilterProgram>(&program.work)) return workspace_bytes(*p, dtype);
  if (const auto* p = std::get_if<FilterPairsProgram>(&program.work)) return workspace_bytes(*p, dtype);
  return 0;
}

// Multiply-adds at the form's share of two vectors a cycle at 2.8 GHz, and memory at 10 GB/s.
double cost_us(const Geometry& g, const Program& program) {
  const double lanes = g.dtype == DType::f64 ? program.kernels->f64.tile.lanes : program.kernels->f32.tile.lanes;
  const PairKernels* pairs = pairs_of(program);
  const double terms = nominal_flops(g) / 2, gain = pairs == nullptr ? 1 : pairs->gain;
  const auto results = static_cast<double>(fixed_result_shape(g).elements());
  const double bytes = (results + std::min(2 * terms, 2 * results)) * static_cast<double>(size_of(g.dtype));
  return std::max(terms / (2 * lanes * gain * 2.8e3 * form_of(program).share), bytes / 10e3);
}

std::string why(const Program& program) {
  std::string text(form_of(program).why);
  if (const auto* p = std::get_if<GatherProgram>(&program.work)) {
    if (p->planar) text += "; but long rows with their positions in lanes, result channels in rows";
    text += concat("; ", p->region_count(), " regions x ", p->parts, " parts");
  } else if (const FilterProgram* f = filter_cut(program)) {
    text += concat("; ", f->block_count(), " blocks of the filter x ", f->slices, " slices of the pixels");
  }
  return text;
}

Result<Plan> propose(const Geometry& g, const Policy& policy) {
  const std::shared_ptr<Program> program = program_of(g, policy);
  Plan plan;
  plan.geometry = g;
  plan.engine = "cpu";
  const PairKernels* pairs = pairs_of(*program);
  plan.kernel = concat(name(g.direction), "_", form_of(*program).name, "_", info(g.dtype).id, "_",
                       pairs == nullptr ? program->kernels->isa : pairs->isa);
  plan.workspace_bytes = program->workspace_bytes = bytes_of(*program, g.dtype);
  plan.math = program->kernels->fuses && pairs == nullptr ? MathMode::canonical : MathMode::standard;
  plan.cost_us = cost_us(g, *program);
  if (const FilterProgram* p = filter_cut(*program)) plan.slices = p->slices;
  if (std::holds_alternative<GatherProgram>(program->work)) plan.tuned = to_text(policy.knobs.value_or(Knobs{}));
  plan.why = why(*program);
  plan.program = program;
  return plan;
}

// A single unit, on the caller's thread.
struct Single {
  const Program& program;
  const Geometry& geometry;
  const EngineArgs& args;

  static void run(void* context, std::int64_t, int) {
    const auto& [program, g, args] = *static_cast<Single*>(context);
    if (const auto* p = std::get_if<SmallProgram>(&program.work)) {
      run_small(*p, g.dtype, args);
    } else {
      const auto bytes = fixed_result_shape(g).elements() * static_cast<std::int64_t>(size_of(g.dtype));
      std::fill_n(static_cast<char*>(args.result), bytes, char{});
    }
  }
};

// A plan is public data: what its program was made for must still be what it says.
const Program* program_in(const Plan& plan) {
  const EngineProgram* given = plan.program.get();
  if (given == nullptr || typeid(*given) != typeid(Program)) return nullptr;
  const auto* program = static_cast<const Program*>(given);
  if (!(program->geometry == plan.geometry)) return nullptr;
  return plan.workspace_bytes >= program->workspace_bytes ? program : nullptr;
}

Status changed_plan() {
  return refuse("run", {.rule = Rule::engine_name,
                        .argument = "plan",
                        .reason = "the plan is not as make_plan() gave it",
                        .got = "a plan with another geometry, workspace or program",
                        .wanted = "a plan from make_plan()"});
}

Status run(const Plan& plan, const EngineArgs& args, const Policy& policy) {
  const Program* program = program_in(plan);
  if (program == nullptr) return changed_plan();
  const Geometry& g = plan.geometry;
  if (const auto* p = std::get_if<GatherProgram>(&program->work))
    return run_gather(*p, *program->kernels, g, args, policy);
  if (const auto* p = std::get_if<FilterProgram>(&program->work))
    return run_filter(*p, *program->kernels, g, args, policy);
  if (const auto* p = std::get_if<FilterPairsProgram>(&program->work))
    return run_filter_pairs(*p, *program->kernels, g, args, policy);
  Single single{*program, g, args};
  return spread(policy, WorkerUnits{1, 1, Single::run, &single});
}

template <class Work>
Bound<Work> bound(const EngineRun& run) {
  return {std::get<Work>(program_in(run.plan)->work), run.plan.geometry, run.args};
}

bool gains_together(const GradientPlans& plans) {
  const Program *input = program_in(plans.input), *filter = program_in(plans.filter), *bias = program_in(plans.bias);
  if (input == nullptr || filter == nullptr || bias == nullptr) return false;
  const auto* gather = std::get_if<GatherProgram>(&input->work);
  const auto* slices = std::get_if<FilterProgram>(&filter->work);
  return gather != nullptr && slices != nullptr && fit_together(*gather, *slices) &&
         std::holds_alternative<FilterProgram>(bias->work);
}

Status run_together(const EngineGradients& runs, const Policy& policy) {
  return run_gradients({*program_in(runs.input.plan)->kernels, bound<GatherProgram>(runs.input),
                        bound<FilterProgram>(runs.filter), bound<FilterProgram>(runs.bias)},
                       policy);
}

}  // namespace
}  // namespace convgrad::cpu

namespace convgrad {

Engine engine_cpu() {
  return {.name = "cpu",
          .description = "register tiles for SSE4, AVX2, AVX-512 and NEON, AMX and AVX512-BF16 for bf16; every problem",
          .obstacle = cpu::isa_obstacle,
          .objection = [](const Geometry&) { return cpu::isa_objection(); },
          .propose = cpu::propose,
          .run = cpu::run,
          .gains_together = cpu::gains_together,
          .run_gradients = cpu::run_together};
}

}  // namespace convgrad

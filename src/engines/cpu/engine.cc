// The CPU engine's row: every problem, by register tiles.
#include <algorithm>
#include <variant>

#include "base/text.h"
#include "engines/cpu/filter_grad.h"
#include "engines/cpu/gather.h"
#include "engines/cpu/isa.h"
#include "engines/engine.h"
#include "engines/spread.h"
#include "geometry/shapes.h"

namespace convgrad::cpu {
namespace {

// A sum without terms: the result is all zeros.
struct NothingToAdd {};

struct Program final : EngineProgram {
  const Kernels* kernels = nullptr;
  std::variant<NothingToAdd, GatherProgram, FilterProgram> work;
};

bool any_zero(const Extents& e) { return e[0] == 0 || e[1] == 0 || e[2] == 0; }

bool has_terms(const Geometry& g) {
  if (g.n == 0 || g.c_out == 0 || any_zero(g.out)) return false;
  return g.direction == Direction::bias_grad || !(g.c_in == 0 || any_zero(g.in) || any_zero(g.filter));
}

bool gathers(const Geometry& g) {
  return g.direction == Direction::forward || g.direction == Direction::input_grad;
}

std::shared_ptr<Program> program_of(const Geometry& g, const Policy& policy) {
  auto program = std::make_shared<Program>();
  program->kernels = chosen_kernels();
  if (!has_terms(g)) return program;
  if (gathers(g)) {
    program->work = gather_program(g, *program->kernels, policy);
  } else {
    program->work = filter_program(g, policy);
  }
  return program;
}

std::string_view form_name(const Program& program) {
  static constexpr std::string_view kGather[] = {"dense", "dot", "lanes"};
  static constexpr std::string_view kFilter[] = {"dense", "dense_swapped", "lanes", "ones"};
  if (const auto* p = std::get_if<GatherProgram>(&program.work)) return kGather[static_cast<int>(p->form)];
  if (const auto* p = std::get_if<FilterProgram>(&program.work)) return kFilter[static_cast<int>(p->form)];
  return "zeros";
}

std::int64_t bytes_of(const Program& program, DType dtype) {
  if (const auto* p = std::get_if<GatherProgram>(&program.work)) return workspace_bytes(*p, dtype);
  if (const auto* p = std::get_if<FilterProgram>(&program.work)) return workspace_bytes(*p, dtype);
  return 0;
}

Plan propose(const Geometry& g, const Policy& policy) {
  const std::shared_ptr<Program> program = program_of(g, policy);
  Plan plan;
  plan.geometry = g;
  plan.engine = "cpu";
  plan.kernel = concat(name(g.direction), "_", form_name(*program), "_", info(g.dtype).id, "_", program->kernels->isa);
  plan.workspace_bytes = bytes_of(*program, g.dtype);
  plan.cost_us = nominal_flops(g) * 1e-5;
  if (const auto* p = std::get_if<FilterProgram>(&program->work)) plan.slices = p->slices;
  plan.why = "register tiles";
  plan.program = program;
  return plan;
}

Status run(const Plan& plan, const EngineArgs& args, const Policy& policy) {
  const Geometry& g = plan.geometry;
  const auto& program = static_cast<const Program&>(*plan.program);
  if (const auto* p = std::get_if<GatherProgram>(&program.work)) return run_gather(*p, *program.kernels, g, args, policy);
  if (const auto* p = std::get_if<FilterProgram>(&program.work)) return run_filter(*p, *program.kernels, g, args, policy);
  std::fill_n(static_cast<char*>(args.result),
              fixed_result_shape(g).elements() * static_cast<std::int64_t>(size_of(g.dtype)), char{});
  return {};
}

}  // namespace
}  // namespace convgrad::cpu

namespace convgrad {

Engine engine_cpu() {
  return {.name = "cpu",
          .description = "register tiles for SSE4, AVX2 and AVX-512; every problem",
          .available = [] { return cpu::chosen_kernels() != nullptr; },
          .objection = [](const Geometry&) { return std::string(); },
          .propose = cpu::propose,
          .run = cpu::run};
}

}  // namespace convgrad

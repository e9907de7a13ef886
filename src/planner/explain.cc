// A plan and its rivals as readable text.
#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "convgrad/plan.h"
#include "engines/engine.h"

namespace convgrad {
namespace {

std::string microseconds(double value) {
  char text[48];
  std::snprintf(text, sizeof(text), value < 1000 ? "%.1f us" : "%.0f us", value);
  return text;
}

std::string extents(const Extents& e, int rank) {
  return to_text(std::span<const std::int64_t>(e).last(static_cast<std::size_t>(rank)));
}

std::string line(std::string_view label, std::string_view value) {
  std::string text(label);
  text.resize(11, ' ');
  return concat(text, value, "\n");
}

std::string problem_text(const ConvProblem& problem, const Geometry& g) {
  return line("problem", to_text(problem)) + line("input", to_text(in_shape(g))) +
         line("filter", to_text(filter_shape(g))) + line("output", to_text(out_shape(g))) +
         line("padding", concat("before ", extents(g.pad_before, g.rank), " after ", extents(g.pad_after, g.rank))) +
         line("groups", concat(g.groups)) + line("engines", "(* = chosen)");
}

std::string_view where(const Plan& plan) {
  const auto row = std::ranges::find(engines(), std::string_view(plan.engine), &Engine::name);
  return row != engines().end() && row->home == Memory::cuda ? " on the GPU" : " on one core";
}

std::string proposal_text(const Proposal& p) {
  if (!p.plan.ok()) return concat("  ", p.engine, "  no plan: ", p.plan.status().message(), "\n");
  const Plan& plan = *p.plan;
  return concat(p.chosen ? "* " : "  ", p.engine, "  kernel ", plan.kernel, "  math ", info(plan.math).name, "  cost ",
                microseconds(plan.cost_us), where(plan), "  workspace ", plan.workspace_bytes, " bytes  chunk ",
                plan.chunk, "  slices ", plan.slices, "\n", "    why: ", plan.why,
                plan.tuned.empty() ? "" : "; tuned: ", plan.tuned, "\n");
}

}  // namespace

Result<std::string> explain(const ConvProblem& problem, const Policy& policy) {
  const Result<Geometry> geometry = validate(problem, policy.limits);
  if (!geometry.ok()) return geometry.status();
  if (const Result<Plan> plan = make_plan(*geometry, policy); !plan.ok()) return plan.status();
  std::string text = problem_text(problem, *geometry);
  for (const Proposal& proposal : proposals(*geometry, policy)) text += proposal_text(proposal);
  return text;
}

}  // namespace convgrad

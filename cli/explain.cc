// convgrad explain: the plan of a problem and its rivals, or the plans of a graph.
#include <fmt/core.h>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/graph_plan.h"
#include "cli/pages.h"
#include "cli/policy.h"

namespace convgrad::cli {
namespace {

int explain_graph(const std::string& path, const Policy& policy) {
  const Result<LoadedGraph> loaded = read_graph(path);
  if (!loaded.ok()) return refuse(loaded.status());
  const Result<GraphPlan> plan = plan_graph(*loaded->graph.scope.graph(), policy);
  if (!plan.ok()) return refuse(plan.status());
  fmt::print("{}", plan_text(*plan));
  return kOk;
}

}  // namespace

int explain_command(const ExplainRequest& request) {
  const Result<Policy> policy = policy_of(request.policy);
  if (!policy.ok()) return refuse(policy.status());
  if (names_page(request.subject)) return explain_graph(request.subject, *policy);
  const Result<ConvProblem> problem = parse_problem(request.subject);
  if (!problem.ok()) return refuse(problem.status());
  const Result<std::string> text = explain(*problem, *policy);
  if (!text.ok()) return refuse(text.status());
  fmt::print("{}", *text);
  return kOk;
}

}  // namespace convgrad::cli

// convgrad explain: the plan of a problem and its rivals.
#include <fmt/core.h>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/policy.h"

namespace convgrad::cli {

int explain_command(const ExplainRequest& request) {
  const Result<ConvProblem> problem = parse_problem(request.problem);
  if (!problem.ok()) return refuse(problem.status());
  const Result<Policy> policy = policy_of(request.policy);
  if (!policy.ok()) return refuse(policy.status());
  const Result<std::string> text = explain(*problem, *policy);
  if (!text.ok()) return refuse(text.status());
  fmt::print("{}", *text);
  return kOk;
}

}  // namespace convgrad::cli

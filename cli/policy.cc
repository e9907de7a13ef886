// Engine, thread count and math mode.
#include "cli/policy.h"

#include <fmt/core.h>

#include <limits>

#include "cli/answer.h"
#include "cli/numbers.h"

namespace convgrad::cli {

Result<Policy> policy_of(const PolicyRequest& request) {
  const Result<std::int64_t> threads = parse_number("--threads", request.threads);
  if (!threads.ok()) return threads.status();
  // The planner judges the count; here it only has to fit the field.
  if (*threads < std::numeric_limits<int>::min() || *threads > std::numeric_limits<int>::max()) {
    return complain({.rule = "policy",
                     .argument = "threads",
                     .reason = "the thread count is out of range",
                     .got = request.threads,
                     .wanted = fmt::format("0 (one a core) to {}", kMaxThreads)});
  }
  const Result<MathMode> math = math_from_name(request.math);
  if (!math.ok()) return math.status();
  Policy policy;
  policy.engine = request.engine;
  policy.threads = static_cast<int>(*threads);
  policy.math = *math;
  return policy;
}

}  // namespace convgrad::cli

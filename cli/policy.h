// The planner's policy from the words of the command line.
#pragma once

#include "cli/commands.h"
#include "convgrad/plan.h"

namespace convgrad::cli {

Result<Policy> policy_of(const PolicyRequest& request);

}  // namespace convgrad::cli

// Runs a schedule: independent nodes side by side, tensors freed after their last reader.
#pragma once

#include "convgrad/graph/session.h"
#include "graph/row.h"
#include "graph/schedule.h"

namespace convgrad::graph {

// What a run shares with others of its session, and what is its own.
struct RunContext {
  const Policy& policy;
  Variables& variables;
  const RunOptions& options;
  RunMetadata* metadata = nullptr;
};

// One tensor a fetch. Of several nodes that fail, the first made is the one that is told.
Result<std::vector<Tensor>> execute(const Request& request, const RunContext& context);

}  // namespace convgrad::graph

// convgrad run GRAPH.
#pragma once

#include "cli/commands.h"

namespace convgrad::cli {

int run_graph(const RunRequest& request);

}  // namespace convgrad::cli

// The two commands of the studio: the one that people type, and the one that starts its worker.
#pragma once

#include <optional>

#include "studio/server/budgets.h"

namespace convgrad::cli {

// Of `convgrad studio-worker BYTES NODES`, which the studio itself starts and no help mentions; none for other
// commands.
std::optional<studio::Budgets> worker_budgets(int argc, char** argv);

}  // namespace convgrad::cli

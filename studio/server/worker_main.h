// The worker process: reads questions from standard input, answers on standard output, ends with its door.
#pragma once

#include "studio/server/budgets.h"

namespace convgrad::studio {

int run_worker(const Budgets& budgets);

}  // namespace convgrad::studio

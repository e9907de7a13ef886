// All gradients of one layer, from plans for each.
#pragma once

#include "convgrad/plan.h"

namespace convgrad {

struct PlanRun {
  const Plan& plan;
  RunArgs args;
};

// Of the same layer and with the same dy.
struct GradientRuns {
  PlanRun input, filter, bias;
};

// Three times run(), but dy is made contiguous once, and an engine that can shares what it reads of it.
Status run_gradients(GradientRuns runs, const Policy& policy);

}  // namespace convgrad

// The plans of recent calls, by their arguments as they were written: a call made again is not validated and planned
// again, which takes 0.8 of a tiny call's 3.4 us.
#pragma once

#include <memory>

#include "convgrad/plan.h"

namespace convgrad::python {

// The library's plan for the call, or its refusal. Called with the interpreter's lock held.
Result<std::shared_ptr<const Plan>> plan_of(const ConvCall& call, const Policy& policy);

}  // namespace convgrad::python

// Runs the library without the interpreter's lock, and ends a long run at Ctrl-C.
#pragma once

#include <functional>

#include "convgrad/plan.h"

namespace convgrad::python {

// One piece of work of the library, which looks at policy.cancel.
using Work = std::function<Status(const Policy& policy)>;

// The work's status; throws the exception of a signal handler (KeyboardInterrupt) after the work has ended.
// `cost_us` is the plan's estimate. Work below 10 us keeps the lock: giving it to a busy thread would cost 5 ms.
// Work above 10 ms is done by a thread of its own, while this one looks for signals every 20 ms; `stop` ends it too.
Status run_released(const Work& work, Policy policy, double cost_us);
// The same for a plan. On tensors of a GPU it only adds work to a stream, and does so on the calling thread, whose
// streams and captures CUDA may tell from those of others.
Status run_released(const Plan& plan, const RunArgs& args, const Policy& policy);
Status run_watched(const Work& work, Policy policy, std::atomic<bool>& stop);

}  // namespace convgrad::python

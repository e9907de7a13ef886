// What holds for every call of this process: the number of threads.
#pragma once

#include <nanobind/nanobind.h>

#include "convgrad/plan.h"

namespace convgrad::python {

// The policy of the next call, on tensors that lie there.
Policy current_policy(const Place& place = {});
void bind_settings(nanobind::module_& module);

}  // namespace convgrad::python

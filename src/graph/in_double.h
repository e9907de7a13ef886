// A graph again in double: what the numeric side of a gradient check runs.
#pragma once

#include "convgrad/graph/gradients.h"

namespace convgrad::graph {

struct DoubleCopy {
  Scope scope;
  OutputList xs, ys;
};
// The nodes that ys need, xs as placeholders, every floating-point type replaced by double.
Result<DoubleCopy> in_double(const OutputList& xs, const OutputList& ys);

}  // namespace convgrad::graph

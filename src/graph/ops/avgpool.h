// The mean of every window, by spatial rank.
#pragma once

#include "graph/ops/pool.h"

namespace convgrad::graph {

// AvgPool divides by the number of elements, padding not counted. It and its gradient are each other's gradient.
OpRow avg_pool_row(int rank);
OpRow avg_pool_grad_row(int rank);

}  // namespace convgrad::graph

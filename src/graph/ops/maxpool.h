// The largest element of every window, by spatial rank.
#pragma once

#include "graph/ops/pool.h"

namespace convgrad::graph {

// MaxPool; its gradient, which gives a window's gradient to its largest element; and the gradient of that, which takes
// from every window what stands at its largest element. The last two are each other's gradient. Of equal elements the
// first is the largest, and NaN is larger than all.
OpRow max_pool_row(int rank);
OpRow max_pool_grad_row(int rank);
OpRow max_pool_grad_grad_row(int rank);

}  // namespace convgrad::graph

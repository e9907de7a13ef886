#include "graph/ops/avgpool.h"

namespace convgrad::graph {

OpRow AvgPoolGrad_row() { return avg_pool_grad_row(2); }

}  // namespace convgrad::graph

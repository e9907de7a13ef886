#include "graph/ops/avgpool.h"

namespace convgrad::graph {

OpRow AvgPool3DGrad_row() { return avg_pool_grad_row(3); }

}  // namespace convgrad::graph

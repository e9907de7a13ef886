#include "graph/ops/avgpool.h"

namespace convgrad::graph {

OpRow AvgPool3D_row() { return avg_pool_row(3); }

}  // namespace convgrad::graph

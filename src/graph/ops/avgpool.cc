#include "graph/ops/avgpool.h"

namespace convgrad::graph {

OpRow AvgPool_row() { return avg_pool_row(2); }

}  // namespace convgrad::graph

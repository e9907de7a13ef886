#include "graph/ops/maxpool.h"

namespace convgrad::graph {

OpRow MaxPool3D_row() { return max_pool_row(3); }

}  // namespace convgrad::graph

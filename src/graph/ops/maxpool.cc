#include "graph/ops/maxpool.h"

namespace convgrad::graph {

OpRow MaxPool_row() { return max_pool_row(2); }

}  // namespace convgrad::graph

#include "graph/ops/maxpool.h"

namespace convgrad::graph {

OpRow MaxPool3DGrad_row() { return max_pool_grad_row(3); }

}  // namespace convgrad::graph

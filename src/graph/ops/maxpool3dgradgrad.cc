#include "graph/ops/maxpool.h"

namespace convgrad::graph {

OpRow MaxPool3DGradGrad_row() { return max_pool_grad_grad_row(3); }

}  // namespace convgrad::graph

#include "graph/ops/maxpool.h"

namespace convgrad::graph {

OpRow MaxPoolGradGrad_row() { return max_pool_grad_grad_row(2); }

}  // namespace convgrad::graph

#include "graph/ops/reduce.h"

namespace convgrad::graph {

OpRow SumGrad_row() { return reduction_grad_row(Reduce::sum); }

}  // namespace convgrad::graph

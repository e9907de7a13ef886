#include "graph/ops/reduce.h"

namespace convgrad::graph {

OpRow MeanGrad_row() { return reduction_grad_row(Reduce::mean); }

}  // namespace convgrad::graph

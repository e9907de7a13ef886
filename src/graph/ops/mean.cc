#include "graph/ops/reduce.h"

namespace convgrad::graph {

OpRow Mean_row() { return reduction_row(Reduce::mean); }

}  // namespace convgrad::graph

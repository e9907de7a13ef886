#include "graph/ops/reduce.h"

namespace convgrad::graph {

OpRow Sum_row() { return reduction_row(Reduce::sum); }

}  // namespace convgrad::graph

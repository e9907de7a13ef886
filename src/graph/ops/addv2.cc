#include "graph/ops/elementwise.h"

namespace convgrad::graph {

OpRow AddV2_row() { return add_row("AddV2", "x + y, element by element: Add by its newer name."); }

}  // namespace convgrad::graph

#include "graph/ops/conv.h"

namespace convgrad::graph {

OpRow Conv2DBackpropFilterV2_row() {
  return conv<ConvForm{.op = Op::conv2d_backprop_filter, .sizes_of_tensor = true}>(
      "Conv2DBackpropFilterV2", "Conv2DBackpropFilter with the filter itself in place of its sizes.");
}

}  // namespace convgrad::graph

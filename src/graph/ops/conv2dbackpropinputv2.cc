#include "graph/ops/conv.h"

namespace convgrad::graph {

OpRow Conv2DBackpropInputV2_row() {
  return conv<ConvForm{.op = Op::conv2d_backprop_input, .sizes_of_tensor = true}>(
      "Conv2DBackpropInputV2", "Conv2DBackpropInput with the input itself in place of its sizes.");
}

}  // namespace convgrad::graph

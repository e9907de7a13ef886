#include "graph/ops/conv.h"

namespace convgrad::graph {

OpRow Conv2DBackpropInput_row() {
  return conv<ConvForm{.op = Op::conv2d_backprop_input}>(
      "Conv2DBackpropInput", "Gradient of Conv2D with respect to the input; also the transposed convolution.");
}

}  // namespace convgrad::graph

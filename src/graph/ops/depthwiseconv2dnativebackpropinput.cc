#include "graph/ops/conv.h"

namespace convgrad::graph {

OpRow DepthwiseConv2dNativeBackpropInput_row() {
  return conv<ConvForm{.op = Op::conv2d_backprop_input, .depthwise = true}>(
      "DepthwiseConv2dNativeBackpropInput", "Gradient of DepthwiseConv2dNative with respect to the input.");
}

}  // namespace convgrad::graph

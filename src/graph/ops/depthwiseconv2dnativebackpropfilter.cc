#include "graph/ops/conv.h"

namespace convgrad::graph {

OpRow DepthwiseConv2dNativeBackpropFilter_row() {
  return conv<ConvForm{.op = Op::conv2d_backprop_filter, .depthwise = true}>(
      "DepthwiseConv2dNativeBackpropFilter", "Gradient of DepthwiseConv2dNative with respect to the filter.");
}

}  // namespace convgrad::graph

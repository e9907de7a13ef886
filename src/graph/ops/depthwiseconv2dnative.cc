#include "graph/ops/conv.h"

namespace convgrad::graph {

OpRow DepthwiseConv2dNative_row() {
  return conv<ConvForm{.op = Op::conv2d, .depthwise = true}>(
      "DepthwiseConv2dNative", "Convolves every channel of an image with filters of its own.");
}

}  // namespace convgrad::graph

#include "graph/ops/conv.h"

namespace convgrad::graph {

OpRow Conv3DBackpropInputV2_row() {
  return conv<ConvForm{.op = Op::conv3d_backprop_input_v2}>(
      "Conv3DBackpropInputV2", "Gradient of Conv3D with respect to the input; also the transposed convolution.");
}

}  // namespace convgrad::graph

#include "graph/ops/conv.h"

namespace convgrad::graph {

OpRow Conv3DBackpropFilterV2_row() {
  return conv<ConvForm{.op = Op::conv3d_backprop_filter_v2}>("Conv3DBackpropFilterV2",
                                                             "Gradient of Conv3D with respect to the filter.");
}

}  // namespace convgrad::graph

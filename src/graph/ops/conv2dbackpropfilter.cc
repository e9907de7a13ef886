#include "graph/ops/conv.h"

namespace convgrad::graph {

OpRow Conv2DBackpropFilter_row() {
  return conv<ConvForm{.op = Op::conv2d_backprop_filter}>("Conv2DBackpropFilter",
                                                          "Gradient of Conv2D with respect to the filter.");
}

}  // namespace convgrad::graph

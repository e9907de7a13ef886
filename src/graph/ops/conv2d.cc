#include "graph/ops/conv.h"

namespace convgrad::graph {

OpRow Conv2D_row() { return conv<ConvForm{.op = Op::conv2d}>("Conv2D", "Convolves images with a filter."); }

}  // namespace convgrad::graph

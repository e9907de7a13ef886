#include "graph/ops/conv.h"

namespace convgrad::graph {

OpRow Conv3D_row() { return conv<ConvForm{.op = Op::conv3d}>("Conv3D", "Convolves volumes with a filter."); }

}  // namespace convgrad::graph

// Which dimension of a tensor a bias belongs to.
#pragma once

#include "graph/ops/shapes.h"

namespace convgrad::graph {

AttrSpec bias_format();
// That input pin 0 has fewer than 2 dimensions.
convgrad::Status want_channels(const NodeView& node);
// The dimension of the channels in a tensor of this many: the last, or the second.
int channel_of(const NodeView& node, int rank);
// [channels] as a shape that broadcasts with a tensor of this shape.
Shape bias_shape(const NodeView& node, const Shape& tensor);

}  // namespace convgrad::graph

// Shape rules that several ops share.
#pragma once

#include "graph/row.h"

namespace convgrad::graph {

// The first output has the shape of the first input.
inline Result<Inferred> same_as_first(const NodeView& node) { return Inferred{{node.inputs[0].shape}}; }

// One shape for inputs that must agree; what one of them does not know, another may.
Result<PartialTensorShape> merged(const NodeView& node, std::size_t first, std::size_t last);

// NumPy's broadcasting of two shapes.
Result<PartialTensorShape> broadcast(const NodeView& node, const PartialTensorShape& a, const PartialTensorShape& b);

// Elements of an integer input as numbers, where they are known.
std::optional<std::vector<int64>> known_integers(const WireInfo& input);

}  // namespace convgrad::graph

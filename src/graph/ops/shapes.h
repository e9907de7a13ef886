// Shape rules that several ops share.
#pragma once

#include "graph/row.h"

namespace convgrad::graph {

// The first output has the shape of the first input.
inline Result<Inferred> same_as_first(const NodeView& node) { return Inferred{{node.inputs[0].shape}}; }

// What two shapes that must agree tell together: one known so far, and that of an input.
Result<PartialTensorShape> merge(const NodeView& node, const PartialTensorShape& shape, std::size_t input);
// The same of inputs [first, last).
Result<PartialTensorShape> merged(const NodeView& node, std::size_t first, std::size_t last);

// NumPy's broadcasting of two shapes.
Result<PartialTensorShape> broadcast(const NodeView& node, const PartialTensorShape& a, const PartialTensorShape& b);

// That one input's shape does not broadcast to that of another.
convgrad::Status want_broadcast(const NodeView& node, std::size_t input, std::size_t to);

// That an input of sizes, axes or a permutation has not one dimension.
convgrad::Status want_vector(const NodeView& node, std::size_t input);
// Elements of an integer input as numbers, where they are known.
std::optional<std::vector<int64>> known_integers(const WireInfo& input);

// The same buffer under another shape of as many elements.
Result<std::vector<Tensor>> reshaped(const Tensor& tensor, const Shape& shape);

}  // namespace convgrad::graph

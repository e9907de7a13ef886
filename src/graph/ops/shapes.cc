#include "graph/ops/shapes.h"

#include <algorithm>

namespace convgrad::graph {

Result<PartialTensorShape> merged(const NodeView& node, std::size_t first, std::size_t last) {
  PartialTensorShape shape = node.inputs[first].shape;
  for (std::size_t i = first + 1; i < last; ++i) {
    const PartialTensorShape& other = node.inputs[i].shape;
    if (!shape.IsCompatibleWith(other))
      return node.refuse({.rule = Rule::graph_shape,
                          .argument = node.op.inputs[std::min(i, node.op.inputs.size() - 1)].name,
                          .reason = "inputs must have one shape",
                          .got = other.DebugString(),
                          .wanted = shape.DebugString()});
    if (shape.unknown_rank()) {
      shape = other;
    } else if (!other.unknown_rank()) {
      Shape sizes = shape.sizes();
      for (std::size_t d = 0; d < sizes.size(); ++d) sizes[d] = std::max(sizes[d], other.sizes()[d]);
      shape = PartialTensorShape(sizes);
    }
  }
  return shape;
}

Result<PartialTensorShape> broadcast(const NodeView& node, const PartialTensorShape& a, const PartialTensorShape& b) {
  if (a.unknown_rank() || b.unknown_rank()) return PartialTensorShape();
  const int rank = std::max(a.dims(), b.dims());
  Shape sizes(static_cast<std::size_t>(rank));
  for (int d = 0; d < rank; ++d) {
    const int from_a = d - (rank - a.dims()), from_b = d - (rank - b.dims());
    const int64 x = from_a < 0 ? 1 : a.dim_size(from_a), y = from_b < 0 ? 1 : b.dim_size(from_b);
    if (x > 1 && y > 1 && x != y)
      return node.refuse({.rule = Rule::graph_shape,
                          .argument = node.op.inputs[1].name,
                          .reason = concat("Incompatible shapes: ", a.DebugString(), " vs. ", b.DebugString()),
                          .got = b.DebugString(),
                          .wanted = concat("sizes equal to those of ", a.DebugString(), " or 1")});
    // 1 gives way to the other; of an unknown size and a larger one the larger is right if anything is.
    sizes[static_cast<std::size_t>(d)] = x == 1 ? y : y == 1 ? x : x == 0 || y == 0 ? 0 : std::max(x, y);
  }
  return PartialTensorShape(sizes);
}

std::optional<std::vector<int64>> known_integers(const WireInfo& input) {
  if (!input.value || (input.dtype != DT_INT32 && input.dtype != DT_INT64)) return std::nullopt;
  std::vector<int64> numbers;
  for (int64 i = 0; i < input.value->NumElements(); ++i) {
    numbers.push_back(input.dtype == DT_INT64 ? static_cast<const int64*>(input.value->data())[i]
                                              : static_cast<const int32*>(input.value->data())[i]);
  }
  return numbers;
}

}  // namespace convgrad::graph

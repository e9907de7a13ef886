#include "graph/ops/shapes.h"

#include <algorithm>

namespace convgrad::graph {

Result<PartialTensorShape> merge(const NodeView& node, const PartialTensorShape& shape, std::size_t input) {
  const PartialTensorShape& other = node.inputs[input].shape;
  if (!shape.IsCompatibleWith(other))
    return node.refuse({.rule = Rule::graph_shape,
                        .argument = node.op.inputs[std::min(input, node.op.inputs.size() - 1)].name,
                        .reason = "inputs must have one shape",
                        .got = other.DebugString(),
                        .wanted = shape.DebugString()});
  if (shape.unknown_rank()) return other;
  if (other.unknown_rank()) return shape;
  Shape sizes = shape.sizes();
  for (std::size_t d = 0; d < sizes.size(); ++d) sizes[d] = std::max(sizes[d], other.sizes()[d]);
  return PartialTensorShape(sizes);
}

Result<PartialTensorShape> merged(const NodeView& node, std::size_t first, std::size_t last) {
  Result<PartialTensorShape> shape = node.inputs[first].shape;
  for (std::size_t i = first + 1; i < last && shape.ok(); ++i) shape = merge(node, *shape, i);
  return shape;
}

Result<PartialTensorShape> broadcast(const NodeView& node, const PartialTensorShape& a, const PartialTensorShape& b) {
  if (a.unknown_rank() || b.unknown_rank()) return PartialTensorShape();
  const int rank = std::max(a.dims(), b.dims());
  Shape sizes(static_cast<std::size_t>(rank));
  for (int d = 0; d < rank; ++d) {
    const int from_a = d - (rank - a.dims()), from_b = d - (rank - b.dims());
    const int64 x = from_a < 0 ? 1 : a.dim_size(from_a), y = from_b < 0 ? 1 : b.dim_size(from_b);
    if (x >= 0 && y >= 0 && x != 1 && y != 1 && x != y)
      return node.refuse({.rule = Rule::graph_shape,
                          .argument = node.op.inputs[1].name,
                          .reason = concat("Incompatible shapes: ", a.DebugString(), " vs. ", b.DebugString()),
                          .got = b.DebugString(),
                          .wanted = concat("sizes equal to those of ", a.DebugString(), " or 1")});
    // 1 gives way to the other; of an unknown size and a known one the known is right if anything is.
    sizes[static_cast<std::size_t>(d)] = x == 1 ? y : y == 1 ? x : std::max(x, y);
  }
  return PartialTensorShape(sizes);
}

convgrad::Status want_broadcast(const NodeView& node, std::size_t input, std::size_t to) {
  const PartialTensorShape &from = node.inputs[input].shape, &wanted = node.inputs[to].shape;
  if (from.unknown_rank() || wanted.unknown_rank()) return {};
  const int missing = wanted.dims() - from.dims();
  bool fits = missing >= 0;
  for (int d = 0; d < from.dims() && fits; ++d) {
    const int64 x = from.dim_size(d), y = wanted.dim_size(missing + d);
    fits = x < 0 || x == 1 || y < 0 || x == y;
  }
  if (fits) return {};
  const PinSpec &pin = node.op.inputs[input], &other = node.op.inputs[to];
  return node.refuse({.rule = Rule::graph_shape,
                      .argument = pin.name,
                      .reason = concat(pin.name, " does not broadcast to the shape of ", other.name),
                      .got = from.DebugString(),
                      .wanted = concat("sizes of ", wanted.DebugString(), " or 1")});
}

convgrad::Status want_vector(const NodeView& node, std::size_t input) {
  const PartialTensorShape& shape = node.inputs[input].shape;
  if (shape.unknown_rank() || shape.dims() == 1) return {};
  const string& name = node.op.inputs[input].name;
  return node.refuse({.rule = Rule::rank,
                      .argument = name,
                      .reason = concat(name, " must be a vector"),
                      .got = shape.DebugString(),
                      .wanted = "one dimension"});
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

Result<std::vector<Tensor>> reshaped(const Tensor& tensor, const Shape& shape) {
  Tensor changed = tensor;
  if (!changed.CopyFrom(tensor, TensorShape(shape)))
    return convgrad::Status::internal("a tensor has not as many elements as its new shape");
  return std::vector<Tensor>{std::move(changed)};
}

}  // namespace convgrad::graph

// Outputs, and constants from nested literals.
#include "convgrad/graph/input.h"

#include <cstring>
#include <functional>

#include "base/rules.h"
#include "base/text.h"

namespace convgrad::graph {
namespace {

Status bad_literal(string reason, string got, string wanted) {
  return convgrad::refuse("Initializer", {.rule = Rule::operand_shape,
                                          .argument = "values",
                                          .reason = std::move(reason),
                                          .got = std::move(got),
                                          .wanted = std::move(wanted)});
}

// The first part that is bad, or that differs from the first in type or shape.
Status equal_parts(const std::initializer_list<Input::Initializer>& parts) {
  const Tensor& first = parts.begin()->tensor;
  for (const Input::Initializer& part : parts) {
    if (!part.status.ok()) return part.status;
    if (!part.tensor.IsInitialized()) return part.tensor.check_memory();
    if (part.tensor.dtype() != first.dtype())
      return bad_literal("Initializer list components should all have the same type",
                         DataTypeString(part.tensor.dtype()), DataTypeString(first.dtype()));
    if (part.tensor.shape() != first.shape())
      return bad_literal("Initializer list components should all have the same shape",
                         part.tensor.shape().DebugString(), first.shape().DebugString());
  }
  return {};
}

}  // namespace

Output Operation::input(int32 index) const {
  if (index < 0 || index >= num_inputs()) return Output(nullptr, -1);
  const Wire& wire = node_->inputs()[static_cast<std::size_t>(index)];
  return Output(wire.node, wire.index);
}

Output Operation::output(int32 index) const { return Output(node_, index); }

uint64_t Operation::hash(int32 index) const {
  return std::hash<const void*>()(node_) * 31 + static_cast<uint64_t>(index);
}

string Output::name() const { return node() == nullptr ? string() : concat(node()->name(), ":", index_); }

namespace detail {

Status no_such_tensor(DataType dtype) {
  return convgrad::refuse("Initializer", {.rule = Rule::dtype,
                                          .argument = "values",
                                          .reason = "tensors hold no elements of this type",
                                          .got = dtype == DT_STRING ? "text" : "an unsigned or extended number",
                                          .wanted = "float, double, int, a 64-bit integer, or a smaller signed one"});
}

Status wrong_count(const TensorShape& shape, std::size_t count) {
  return convgrad::refuse("Initializer",
                          {.rule = Rule::element_count,
                           .argument = "values",
                           .reason = concat("Cannot construct a tensor with ", shape.num_elements(),
                                            " from an initializer list with ", count, " elements"),
                           .got = concat(count),
                           .wanted = concat(shape.num_elements(), ", the elements of ", shape.DebugString())});
}

}  // namespace detail

Input::Initializer::Initializer(const std::initializer_list<Initializer>& values) {
  if (values.size() < 1) {
    tensor = Tensor(DT_FLOAT, TensorShape{0});
    return;
  }
  status = equal_parts(values);
  if (!status.ok()) return;
  const Tensor& first = values.begin()->tensor;
  Shape shape = first.shape().dim_sizes();
  shape.insert(shape.begin(), static_cast<int64>(values.size()));
  Result<Tensor> made = Tensor::make(first.dtype(), shape);
  if (!made.ok()) {
    status = made.status();
    return;
  }
  tensor = std::move(*made);
  auto* to = static_cast<char*>(tensor.data());
  for (const Initializer& part : values) {
    const StringPiece bytes = part.tensor.tensor_data();
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
    to += bytes.size();
  }
}

}  // namespace convgrad::graph

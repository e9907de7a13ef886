// Shapes: counts, what fits what, text.
#include "convgrad/graph/tensor_shape.h"

#include <algorithm>

#include "base/text.h"

namespace convgrad::graph {
namespace {

string size_text(int64 size) { return size < 0 ? "?" : std::to_string(size); }

string list_text(const Shape& sizes) {
  string text = "[";
  for (std::size_t i = 0; i < sizes.size(); ++i) text += (i > 0 ? "," : "") + size_text(sizes[i]);
  return text + "]";
}

}  // namespace

int64 TensorShape::num_elements() const {
  const Result<int64> count = element_count(sizes_);
  return count.ok() ? *count : -1;
}

Shape::iterator TensorShape::place(int axis, int last) {
  if (axis < 0 || axis > last)
    fail(Status(Code::kOutOfRange,
                concat("axis ", axis, " of a shape ", DebugString(), ": wanted one from 0 to ", last)));
  return sizes_.begin() + axis;
}

void TensorShape::AppendShape(const TensorShape& other) {
  const Shape more = other.sizes_;
  sizes_.insert(sizes_.end(), more.begin(), more.end());
}

string TensorShape::DebugString() const { return list_text(sizes_); }

std::ostream& operator<<(std::ostream& out, const TensorShape& shape) { return out << shape.DebugString(); }

int64 PartialTensorShape::dim_size(int axis) const {
  return axis >= 0 && axis < dims() ? (*sizes_)[static_cast<std::size_t>(axis)] : -1;
}

bool PartialTensorShape::IsFullyDefined() const {
  return sizes_ && std::all_of(sizes_->begin(), sizes_->end(), [](int64 size) { return size >= 0; });
}

bool PartialTensorShape::AsTensorShape(TensorShape* shape) const {
  if (!IsFullyDefined()) return false;
  *shape = TensorShape(*sizes_);
  return true;
}

bool PartialTensorShape::IsCompatibleWith(const PartialTensorShape& other) const {
  if (unknown_rank() || other.unknown_rank()) return true;
  if (dims() != other.dims()) return false;
  for (int axis = 0; axis < dims(); ++axis) {
    const int64 a = dim_size(axis), b = other.dim_size(axis);
    if (a >= 0 && b >= 0 && a != b) return false;
  }
  return true;
}

string PartialTensorShape::DebugString() const { return sizes_ ? list_text(*sizes_) : "<unknown>"; }

std::ostream& operator<<(std::ostream& out, const PartialTensorShape& shape) { return out << shape.DebugString(); }

}  // namespace convgrad::graph

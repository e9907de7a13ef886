// TensorShape, and PartialTensorShape for what is not known before a graph runs.
#ifndef CONVGRAD_GRAPH_TENSOR_SHAPE_H_
#define CONVGRAD_GRAPH_TENSOR_SHAPE_H_

#include <initializer_list>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "convgrad/graph/status.h"
#include "convgrad/graph/types.h"
#include "convgrad/tensor.h"

namespace convgrad::graph {

class CONVGRAD_API TensorShape {
 public:
  TensorShape() = default;  // a scalar's
  TensorShape(std::initializer_list<int64> sizes) : sizes_(sizes) {}
  explicit TensorShape(gtl::ArraySlice<int64> sizes) : sizes_(sizes.begin(), sizes.end()) {}
  explicit TensorShape(Shape sizes) : sizes_(std::move(sizes)) {}

  int dims() const { return static_cast<int>(sizes_.size()); }
  // 0 outside [0, dims()).
  int64 dim_size(int axis) const { return axis >= 0 && axis < dims() ? sizes_[static_cast<std::size_t>(axis)] : 0; }
  const Shape& dim_sizes() const { return sizes_; }
  // -1 when the product overflows or a size is negative.
  int64 num_elements() const;
  bool IsSameSize(const TensorShape& other) const { return sizes_ == other.sizes_; }
  void AddDim(int64 size) { sizes_.push_back(size); }
  // An axis that is not there throws convgrad::Error.
  void InsertDim(int axis, int64 size) { sizes_.insert(place(axis, dims()), size); }
  void set_dim(int axis, int64 size) { *place(axis, dims() - 1) = size; }
  void RemoveDim(int axis) { sizes_.erase(place(axis, dims() - 1)); }
  void AppendShape(const TensorShape& other);
  string DebugString() const;  // "[2,3]"
  Shape::const_iterator begin() const { return sizes_.begin(); }
  Shape::const_iterator end() const { return sizes_.end(); }
  friend bool operator==(const TensorShape&, const TensorShape&) = default;

 private:
  Shape::iterator place(int axis, int last);
  Shape sizes_;
};
CONVGRAD_API std::ostream& operator<<(std::ostream& out, const TensorShape& shape);

// A size of -1 is not known; without a value not even their number is.
class CONVGRAD_API PartialTensorShape {
 public:
  PartialTensorShape() = default;
  PartialTensorShape(std::initializer_list<int64> sizes) : sizes_(Shape(sizes)) {}
  explicit PartialTensorShape(gtl::ArraySlice<int64> sizes) : sizes_(Shape(sizes.begin(), sizes.end())) {}
  explicit PartialTensorShape(Shape sizes) : sizes_(std::move(sizes)) {}
  PartialTensorShape(const TensorShape& shape) : sizes_(shape.dim_sizes()) {}  // NOLINT: it is one, fully known

  bool unknown_rank() const { return !sizes_.has_value(); }
  int dims() const { return sizes_ ? static_cast<int>(sizes_->size()) : -1; }
  int64 dim_size(int axis) const;                 // -1 when not known
  const Shape& sizes() const { return *sizes_; }  // the rank is known
  bool IsFullyDefined() const;
  bool AsTensorShape(TensorShape* shape) const;
  // Whether a tensor could have both.
  bool IsCompatibleWith(const PartialTensorShape& other) const;
  string DebugString() const;  // "[?,3]", "<unknown>"
  bool IsIdenticalTo(const PartialTensorShape& other) const { return sizes_ == other.sizes_; }
  friend bool operator==(const PartialTensorShape&, const PartialTensorShape&) = default;

 private:
  std::optional<Shape> sizes_;
};
CONVGRAD_API std::ostream& operator<<(std::ostream& out, const PartialTensorShape& shape);

}  // namespace convgrad::graph

#endif  // CONVGRAD_GRAPH_TENSOR_SHAPE_H_

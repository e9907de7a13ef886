// Tensor (owns its memory) and the views every call takes.
#ifndef CONVGRAD_TENSOR_H_
#define CONVGRAD_TENSOR_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "convgrad/dtype.h"
#include "convgrad/export.h"
#include "convgrad/status.h"

namespace convgrad {

using Shape = std::vector<std::int64_t>;

// Product of the dimensions, or a Status when it does not fit 63 bits or a dimension is negative.
CONVGRAD_API Result<std::int64_t> element_count(std::span<const std::int64_t> shape);

// A tensor somebody else owns. Empty byte_strides means row-major and contiguous; otherwise one
// entry a dimension, of any sign and alignment. The memory must live as long as the call.
template <class Pointer>
struct BasicTensorView {
  Pointer data = nullptr;
  DType dtype = DType::f32;
  Shape shape = {};
  std::vector<std::int64_t> byte_strides = {};
};
using TensorView = BasicTensorView<const void*>;
using MutableTensorView = BasicTensorView<void*>;

// An owning, contiguous, row-major tensor. The buffer is 64-byte aligned and shared between
// copies, as with a shared_ptr; clone() makes an independent one.
class CONVGRAD_API Tensor {
 public:
  Tensor() = default;  // f32, shape [0]

  // Elements are zero. Fails on a negative or overflowing shape and when memory runs out.
  static Result<Tensor> zeros(DType dtype, Shape shape);

  // Copies values; their number must be the shape's.
  template <class T>
  static Result<Tensor> from(Shape shape, std::span<const T> values);
  template <class T>
  static Result<Tensor> from(Shape shape, const std::vector<T>& values) {
    return from<T>(std::move(shape), std::span<const T>(values));
  }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t size() const { return size_; }
  std::int64_t bytes() const { return size_ * static_cast<std::int64_t>(size_of(dtype_)); }
  void* data() { return buffer_.get(); }
  const void* data() const { return buffer_.get(); }

  // The elements as T; empty when T is not this tensor's type.
  template <class T>
  std::span<T> as() {
    return DTypeOf<T>::value == dtype_ ? std::span<T>(static_cast<T*>(data()), count()) : std::span<T>();
  }
  template <class T>
  std::span<const T> as() const {
    return DTypeOf<T>::value == dtype_ ? std::span<const T>(static_cast<const T*>(data()), count())
                                       : std::span<const T>();
  }

  // Any element as a double, by flat index; NaN outside. For printing and tests.
  double at(std::int64_t index) const;

  Result<Tensor> clone() const;
  TensorView view() const { return {data(), dtype_, shape_, {}}; }
  MutableTensorView mutable_view() { return {data(), dtype_, shape_, {}}; }
  operator TensorView() const { return view(); }  // NOLINT: a tensor is a view of itself

  // "f32[2,2]: 1 2 3 4"; at most limit values.
  std::string to_text(std::int64_t limit = 16) const;

 private:
  std::size_t count() const { return static_cast<std::size_t>(size_); }
  std::shared_ptr<void> buffer_;
  DType dtype_ = DType::f32;
  Shape shape_{0};
  std::int64_t size_ = 0;
};

template <class T>
Result<Tensor> Tensor::from(Shape shape, std::span<const T> values) {
  Result<Tensor> tensor = zeros(DTypeOf<T>::value, std::move(shape));
  if (!tensor.ok()) return tensor;
  if (static_cast<std::size_t>(tensor->size()) != values.size()) {
    return Status(ErrorDetail{StatusCode::invalid_argument,
                              "values: got " + std::to_string(values.size()) + " of them, wanted " +
                                  std::to_string(tensor->size()) + ", the shape's element count",
                              "values", std::to_string(values.size()), std::to_string(tensor->size()),
                              "element-count"});
  }
  std::copy(values.begin(), values.end(), tensor->as<T>().begin());
  return tensor;
}

// A row-major copy of any view (byte strides honoured).
CONVGRAD_API Result<Tensor> contiguous_copy(const TensorView& view);

}  // namespace convgrad

#endif  // CONVGRAD_TENSOR_H_

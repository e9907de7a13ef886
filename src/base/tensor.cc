#include "convgrad/tensor.h"

#include <cstdio>
#include <cstdlib>
#include <limits>

#include "base/buffer.h"
#include "base/rules.h"
#include "base/text.h"
#include "base/views.h"

namespace convgrad {
namespace {

constexpr std::int64_t kMaxCount = std::numeric_limits<std::int64_t>::max();

template <class T>
double element_as_double(const void* data, std::int64_t index) {
  return static_cast<double>(static_cast<const T*>(data)[index]);
}

Status readable(const TensorView& view) {
  if (view.data == nullptr) {
    return refuse("view", {.rule = Rule::operand_data,
                           .argument = "data",
                           .reason = "the view has elements but no memory",
                           .got = "a null pointer",
                           .wanted = "the address of its first element"});
  }
  if (!view.byte_strides.empty() && view.byte_strides.size() != view.shape.size()) {
    return refuse("view", {.rule = Rule::operand_data,
                           .argument = "byte_strides",
                           .reason = "byte_strides has not one entry a dimension",
                           .got = concat(view.byte_strides.size(), " entries"),
                           .wanted = concat(view.shape.size(), " entries, or none")});
  }
  return {};
}

}  // namespace

Result<std::int64_t> element_count(std::span<const std::int64_t> shape) {
  // A zero does not hide an overflow elsewhere: later rooms multiply parts of the shape.
  std::int64_t count = 1;
  bool empty = false;
  for (std::int64_t size : shape) {
    if (size < 0) {
      return refuse("shape", {.rule = Rule::negative_dim,
                              .argument = "shape",
                              .reason = concat("Dimension ", size, " must be >= 0"),
                              .got = to_text(shape),
                              .wanted = "sizes of 0 or more"});
    }
    if (size == 0) {
      empty = true;
    } else if (count > kMaxCount / size) {
      return refuse("shape", {.rule = Rule::overflow,
                              .argument = "shape",
                              .reason = concat("Shape ", to_text(shape), " would have more than 2**63 - 1 elements"),
                              .got = to_text(shape),
                              .wanted = "a smaller product"});
    } else {
      count *= size;
    }
  }
  return empty ? 0 : count;
}

Result<Tensor> Tensor::zeros(DType dtype, Shape shape) {
  const Result<std::int64_t> count = element_count(shape);
  if (!count.ok()) return count.status();
  const auto bytes_each = static_cast<std::int64_t>(size_of(dtype));
  if (bytes_each == 0) {
    return refuse("tensor", {.rule = Rule::dtype,
                             .argument = "dtype",
                             .reason = "there is no such element type",
                             .got = concat(static_cast<int>(dtype)),
                             .wanted = "a row of dtypes.inc"});
  }
  if (*count > kMaxCount / bytes_each) return Status::out_of_memory();
  std::shared_ptr<void> buffer = aligned_buffer(static_cast<std::size_t>(*count * bytes_each));
  if (buffer == nullptr) return Status::out_of_memory();
  Tensor tensor;
  tensor.buffer_ = std::move(buffer);
  tensor.dtype_ = dtype;
  tensor.shape_ = std::move(shape);
  tensor.size_ = *count;
  return tensor;
}

double Tensor::at(std::int64_t index) const {
  if (index < 0 || index >= size_) return std::numeric_limits<double>::quiet_NaN();
  return visit(dtype_, [&]<class T>(T) { return element_as_double<T>(data(), index); });
}

Result<Tensor> Tensor::clone() const { return contiguous_copy(view()); }

std::string Tensor::to_text(std::int64_t limit) const {
  std::string text = concat(info(dtype_).id, convgrad::to_text(shape_), ":");
  for (std::int64_t i = 0; i < std::min(size_, limit); ++i) {
    char number[40];
    std::snprintf(number, sizeof(number), " %.9g", at(i));
    text += number;
  }
  return size_ > limit ? text + " ..." : text;
}

Result<Tensor> contiguous_copy(const TensorView& view) {
  Result<Tensor> copy = Tensor::zeros(view.dtype, view.shape);
  if (!copy.ok() || copy->size() == 0) return copy;
  const Footprint footprint{view.shape, view.byte_strides, static_cast<std::int64_t>(size_of(view.dtype))};
  CONVGRAD_RETURN_IF_ERROR(readable(view));
  gather(footprint, view.data, copy->data());
  return copy;
}

}  // namespace convgrad

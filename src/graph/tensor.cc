// Tensor: memory, checks of views, text.
#include "convgrad/graph/tensor.h"

#include <charconv>
#include <cstring>
#include <iterator>
#include <limits>

#include "base/buffer.h"
#include "base/rules.h"
#include "base/text.h"

namespace convgrad::graph {
namespace {

// The shortest of six or more digits that reads back as the same T; the same in every locale.
template <class T>
string shortest(T value) {
  char text[40];
  for (int digits = 6;; ++digits) {
    const auto end = std::to_chars(text, std::end(text), value, std::chars_format::general, digits).ptr;
    T back = 0;
    std::from_chars(text, end, back);
    if (back == value || digits >= std::numeric_limits<T>::max_digits10) return string(text, end);
  }
}

string element_text(const Tensor& tensor, int64 index) {
  const DataType dtype = tensor.dtype();
  if (dtype == DT_INT64) return std::to_string(static_cast<const int64*>(tensor.data())[index]);
  const double value = tensor.at(index);
  if (dtype == DT_DOUBLE) return shortest(value);
  const bool fraction = dtype == DT_FLOAT || dtype == DT_HALF || dtype == DT_BFLOAT16;
  return fraction ? shortest(static_cast<float>(value)) : std::to_string(static_cast<int64>(value));
}

}  // namespace

Tensor::Tensor(DataType dtype) : Tensor(dtype, TensorShape{0}) {}

Tensor::Tensor(DataType dtype, const TensorShape& shape) : dtype_(dtype), shape_(shape) {
  Result<Tensor> made = make(dtype, shape.dim_sizes());
  if (made.ok()) *this = std::move(*made);
}

Tensor::Tensor(Tensor&& other) noexcept
    : buffer_(std::move(other.buffer_)),
      dtype_(other.dtype_),
      shape_(std::exchange(other.shape_, TensorShape())),
      elements_(std::exchange(other.elements_, 0)) {}

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  if (this == &other) return *this;
  buffer_ = std::move(other.buffer_);
  dtype_ = other.dtype_;
  shape_ = std::exchange(other.shape_, TensorShape());
  elements_ = std::exchange(other.elements_, 0);
  return *this;
}

Result<Tensor> Tensor::make(DataType dtype, const Shape& shape) {
  const DataTypeInfo* row = data_type_info(dtype);
  if (row == nullptr)
    return refuse("Tensor", {.rule = Rule::dtype,
                             .argument = "dtype",
                             .reason = "tensors hold no elements of this type",
                             .got = DataTypeString(dtype),
                             .wanted = "float, double, half, bfloat16, int32, int64, or a smaller integer"});
  const Result<int64> count = element_count(shape);
  if (!count.ok()) return count.status();
  const auto each = static_cast<int64>(row->bytes);
  if (*count > std::numeric_limits<int64>::max() / each) return convgrad::Status::out_of_memory();
  Tensor tensor{NoBuffer{}};
  tensor.buffer_ = aligned_buffer(static_cast<std::size_t>(*count * each));
  if (tensor.buffer_ == nullptr) return convgrad::Status::out_of_memory();
  tensor.dtype_ = dtype;
  tensor.shape_ = TensorShape(shape);
  tensor.elements_ = *count;
  return tensor;
}

Tensor Tensor::from(const convgrad::Tensor& eager) {
  const auto owner = std::make_shared<convgrad::Tensor>(eager);
  Tensor tensor{NoBuffer{}};
  tensor.buffer_ = std::shared_ptr<void>(owner, owner->data());
  tensor.dtype_ = data_type_of(eager.dtype());
  tensor.shape_ = TensorShape(eager.shape());
  tensor.elements_ = eager.size();
  return tensor;
}

Result<Tensor> Tensor::from(const TensorView& view) {
  Result<convgrad::Tensor> copy = contiguous_copy(view);
  if (!copy.ok()) return copy.status();
  return from(*copy);
}

int64 Tensor::TotalBytes() const {
  const DataTypeInfo* row = data_type_info(dtype_);
  return row == nullptr ? 0 : elements_ * static_cast<int64>(row->bytes);
}

bool Tensor::SharesBufferWith(const Tensor& other) const {
  return buffer_ != nullptr && !buffer_.owner_before(other.buffer_) && !other.buffer_.owner_before(buffer_);
}

bool Tensor::CopyFrom(const Tensor& other, const TensorShape& shape) {
  if (!other.IsInitialized() || other.NumElements() != shape.num_elements()) return false;
  const TensorShape kept = shape;  // it may be ours
  *this = other;
  shape_ = kept;
  return true;
}

Tensor Tensor::SubSlice(int64 index) const {
  Tensor row = Slice(index, index + 1);
  row.shape_.RemoveDim(0);
  return row;
}

Tensor Tensor::Slice(int64 first, int64 last) const {
  if (dims() < 1 || first < 0 || last < first || last > dim_size(0) || !IsInitialized())
    fail(Status(Code::kOutOfRange, concat("Slice(", first, ", ", last, ") of a tensor of shape ", shape_.DebugString(),
                                          ": wanted rows of its first dimension")));
  const int64 row = dim_size(0) == 0 ? 0 : elements_ / dim_size(0);
  const auto each = static_cast<int64>(data_type_info(dtype_)->bytes);
  Tensor slice = *this;
  slice.buffer_ = std::shared_ptr<void>(buffer_, static_cast<char*>(buffer_.get()) + first * row * each);
  slice.shape_.set_dim(0, last - first);
  slice.elements_ = (last - first) * row;
  return slice;
}

StringPiece Tensor::tensor_data() const {
  return {static_cast<const char*>(data()), static_cast<std::size_t>(IsInitialized() ? TotalBytes() : 0)};
}

convgrad::Status Tensor::check_memory() const {
  if (IsInitialized()) return {};
  const Result<Tensor> again = make(dtype_, shape_.dim_sizes());
  if (!again.ok()) return again.status();
  return refuse("Tensor", {.rule = Rule::operand_data,
                           .argument = "tensor",
                           .reason = "the tensor has no memory",
                           .got = "one that was moved from, or made when memory ran out",
                           .wanted = "an initialized tensor"});
}

Tensor Tensor::deep_copy() const {
  if (!IsInitialized()) return *this;
  Tensor copy(dtype_, shape_);
  if (copy.IsInitialized() && TotalBytes() > 0)
    std::memcpy(copy.data(), data(), static_cast<std::size_t>(TotalBytes()));
  return copy;
}

std::optional<TensorView> Tensor::view() const {
  const std::optional<DType> dtype = eager_dtype(dtype_);
  if (!dtype || !IsInitialized()) return std::nullopt;
  return TensorView{data(), *dtype, shape_.dim_sizes(), {}};
}

double Tensor::at(int64 index) const {
  if (!IsInitialized() || index < 0 || index >= elements_) return std::numeric_limits<double>::quiet_NaN();
  switch (dtype_) {
#define CONVGRAD_GRAPH_DTYPE(enumerator, number, type, name, letters) \
  case enumerator: return static_cast<double>(static_cast<const type*>(data())[index]);
#define CONVGRAD_GRAPH_STORED(enumerator, number, type, name, letters) \
  case enumerator: return static_cast<double>(static_cast<const type*>(data())[index]);
#include "convgrad/graph/dtypes.inc"
    default: return std::numeric_limits<double>::quiet_NaN();
  }
}

void* Tensor::check(DataType wanted, int rank) const {
  const string self = concat("a ", DataTypeString(dtype_), " tensor of shape ", shape_.DebugString());
  if (!IsInitialized()) fail(Status(Code::kFailedPrecondition, concat("a view of ", self, ", which has no memory")));
  if (wanted != dtype_) fail(Status(Code::kInvalidArgument, concat("a ", DataTypeString(wanted), " view of ", self)));
  if (rank == 0 && elements_ != 1) fail(Status(Code::kInvalidArgument, concat("a scalar view of ", self)));
  if (rank > 0 && rank != dims())
    fail(Status(Code::kInvalidArgument, concat("a view with ", rank, " indices of ", self)));
  return buffer_.get();
}

void Tensor::check_sizes(gtl::ArraySlice<int64> sizes, int rank) const {
  const TensorShape wanted(sizes);
  if (wanted.dims() == rank && wanted.num_elements() == elements_) return;
  fail(Status(Code::kInvalidArgument, concat("a view shaped ", wanted.DebugString(), " with ", rank,
                                             " indices of a tensor of shape ", shape_.DebugString())));
}

void Tensor::fold(bool inner, std::span<int64> sizes) const {
  const int rank = static_cast<int>(sizes.size());
  std::fill(sizes.begin(), sizes.end(), 1);
  for (int axis = 0; axis < dims(); ++axis) {
    const int to = inner ? std::max(rank - dims() + axis, 0) : std::min(axis, rank - 1);
    sizes[static_cast<std::size_t>(to)] *= dim_size(axis);
  }
}

// Rows: [1 2][3 4], a bracket for every dimension but the first, cut after `limit` elements.
string Tensor::SummarizeValue(int64 limit, bool rows) const {
  if (!IsInitialized()) return "uninitialized Tensor";
  const int64 shown = limit < 0 ? elements_ : std::min(limit, elements_);
  std::vector<int64> blocks;  // elements inside each bracket
  for (int64 axis = dims() - 1, block = 1; rows && axis >= 1; --axis)
    blocks.push_back(block *= std::max<int64>(dim_size(static_cast<int>(axis)), 1));
  string text;
  for (int64 i = 0; i < shown; ++i) {
    const bool starts_row = !blocks.empty() && i % blocks.front() == 0;
    if (i > 0 && !starts_row) text += " ";
    for (int64 block : blocks) text += i % block == 0 ? "[" : "";
    text += element_text(*this, i);
    for (int64 block : blocks) text += (i + 1) % block == 0 || i + 1 == shown ? "]" : "";
  }
  return shown < elements_ ? text + "..." : text;
}

string Tensor::DebugString(int64 limit) const {
  return concat("Tensor<type: ", DataTypeString(dtype_), " shape: ", shape_.DebugString(),
                " values: ", SummarizeValue(limit), ">");
}

}  // namespace convgrad::graph

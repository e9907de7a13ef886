// Tensor and shapes: memory, checks of views, text.
#include "convgrad/graph/tensor.h"

#include <cstdio>
#include <cstring>
#include <limits>

#include "base/buffer.h"
#include "base/rules.h"
#include "base/text.h"

namespace convgrad::graph {
namespace {

// Of an element, as C++ streams print it: six digits, fewer where they say it all; 16-bit types likewise.
string element_text(const Tensor& tensor, int64 index) {
  const double value = tensor.at(index);
  char text[40];
  const bool whole = tensor.dtype() == DT_INT64 || tensor.dtype() == DT_INT32;
  if (whole) {
    const auto exact =
        tensor.dtype() == DT_INT64 ? static_cast<const int64*>(tensor.data())[index] : static_cast<int64>(value);
    return std::to_string(exact);
  }
  std::snprintf(text, sizeof(text), "%.*g", tensor.dtype() == DT_DOUBLE ? 17 : 9, value);
  for (int digits = 6; digits < 17; ++digits) {  // the shortest that reads back as the same element
    char shorter[40];
    std::snprintf(shorter, sizeof(shorter), "%.*g", digits, value);
    double back = 0;
    std::sscanf(shorter, "%lf", &back);
    if (tensor.dtype() == DT_DOUBLE ? back == value : static_cast<float>(back) == static_cast<float>(value))
      return shorter;
  }
  return text;
}

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

Tensor::Tensor(DataType dtype) : Tensor(dtype, TensorShape{0}) {}

Tensor::Tensor(DataType dtype, const TensorShape& shape) : dtype_(dtype), shape_(shape) {
  Result<Tensor> made = make(dtype, shape.dim_sizes());
  if (made.ok()) *this = std::move(*made);
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

std::array<int64, 2> Tensor::folded(bool inner) const {
  if (dims() == 0) return {1, 1};
  const int64 kept = inner ? dim_size(dims() - 1) : dim_size(0);
  int64 rest = 1;
  for (int axis = inner ? 0 : 1; axis < dims() - (inner ? 1 : 0); ++axis) rest *= dim_size(axis);
  return inner ? std::array<int64, 2>{rest, kept} : std::array<int64, 2>{kept, rest};
}

// Rows: [1 2][3 4], a bracket for every dimension but the first, cut after `limit` elements.
string Tensor::SummarizeValue(int64 limit, bool rows) const {
  if (!IsInitialized()) return "uninitialized Tensor";
  const int64 shown = std::min(limit, elements_);
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
                " values: ", SummarizeValue(limit, true), ">");
}

}  // namespace convgrad::graph

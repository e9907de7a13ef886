// Tensor as TensorFlow's C++ programs use it: shared buffer, typed views. No Eigen.
#ifndef CONVGRAD_GRAPH_TENSOR_H_
#define CONVGRAD_GRAPH_TENSOR_H_

#include <algorithm>
#include <array>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "convgrad/graph/tensor_shape.h"
#include "convgrad/graph/types.h"
#include "convgrad/tensor.h"

namespace convgrad::graph {

// Elements in row-major order with N indices. An index outside, or as many of them as are wrong, throws
// convgrad::Error; the memory belongs to the tensor.
template <class T, int N>
class TensorMap {
 public:
  using Sizes = std::array<int64, static_cast<std::size_t>(N)>;
  TensorMap(T* data, const Sizes& sizes) : data_(data), sizes_(sizes) {}
  TensorMap(const TensorMap&) = default;

  template <class... Index>
  T& operator()(Index... index) const {
    static_assert(sizeof...(Index) == N, "one index a dimension");
    const Sizes at{static_cast<int64>(index)...};
    int64 flat = 0;
    for (std::size_t d = 0; d < at.size(); ++d) {
      if (at[d] < 0 || at[d] >= sizes_[d]) fail_index(static_cast<int>(d), at[d], sizes_[d]);
      flat = flat * sizes_[d] + at[d];
    }
    return data_[flat];
  }
  T& operator[](int64 index) const {
    if (index < 0 || index >= size()) fail_index(0, index, size());
    return data_[index];
  }

  T* data() const { return data_; }
  int64 dimension(int axis) const {
    if (axis < 0 || axis >= N) fail_index(0, axis, N);
    return sizes_[static_cast<std::size_t>(axis)];
  }
  const Sizes& dimensions() const { return sizes_; }
  int64 size() const {
    int64 count = 1;
    for (int64 size : sizes_) count *= size;
    return count;
  }
  T* begin() const { return data_; }
  T* end() const { return data_ + size(); }

  // The elements of another view of as many.
  TensorMap& operator=(const TensorMap& other) { return assign(other.data(), other.size()); }
  template <class U, int M>
  TensorMap& operator=(const TensorMap<U, M>& other) {
    return assign(other.data(), other.size());
  }
  TensorMap& setConstant(const T& value) {
    std::fill(begin(), end(), value);
    return *this;
  }
  TensorMap& setZero() { return setConstant(T{}); }
  // Uniform in [0, 1) for floating point, any value for integers. The same numbers in every process.
  TensorMap& setRandom() {
    std::mt19937_64 bits(0x9E3779B97F4A7C15u);
    for (T& element : *this) {
      if constexpr (std::is_integral_v<T>) {
        element = static_cast<T>(bits());
      } else if constexpr (std::is_floating_point_v<T>) {
        element = static_cast<T>(static_cast<double>(bits() >> 40) * 0x1p-24);
      } else {
        element = T::from(static_cast<float>(bits() >> 40) * 0x1p-24F);
      }
    }
    return *this;
  }
  TensorMap& setValues(std::initializer_list<T> values) {
    return assign(values.begin(), static_cast<int64>(values.size()));
  }

 private:
  [[noreturn]] static void fail_index(int axis, int64 index, int64 size) {
    fail(Status(Code::kOutOfRange, "a view's index " + std::to_string(axis) + " is " + std::to_string(index) +
                                       ", wanted one from 0 to below " + std::to_string(size)));
  }
  template <class U>
  TensorMap& assign(const U* from, int64 count) {
    if (count != size())
      fail(Status(Code::kInvalidArgument, "a view of " + std::to_string(size()) + " elements was assigned " +
                                              std::to_string(count) + " of them"));
    std::copy(from, from + count, data_);
    return *this;
  }

  T* data_;
  Sizes sizes_;
};

// Rows of a matrix on lines of their own, everything else on one line.
template <class T, int N>
std::ostream& operator<<(std::ostream& out, const TensorMap<T, N>& view) {
  const int64 row = N == 0 ? 1 : view.dimension(N - 1);
  for (int64 i = 0; i < view.size(); ++i) {
    if (i > 0) out << (i % row == 0 ? '\n' : ' ');
    if constexpr (std::is_arithmetic_v<std::remove_const_t<T>>) {
      out << +view[i];
    } else {
      out << static_cast<float>(view[i]);
    }
  }
  return out;
}

// Copies share the buffer, as in TensorFlow. A tensor whose memory could not be had, or whose shape is
// impossible, is not initialized; its views throw convgrad::Error, and ops refuse it.
class CONVGRAD_API Tensor {
 public:
  Tensor() : Tensor(DT_FLOAT) {}  // float, shape [0]
  explicit Tensor(DataType dtype);
  Tensor(DataType dtype, const TensorShape& shape);
  Tensor(const Tensor&) = default;
  Tensor& operator=(const Tensor&) = default;
  Tensor(Tensor&& other) noexcept;  // other is not initialized afterwards
  Tensor& operator=(Tensor&& other) noexcept;
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  explicit Tensor(T scalar) : Tensor(data_type_for<T>(), TensorShape{}) {
    this->scalar<T>()() = scalar;
  }

  // The same with a Status. Elements are zero.
  static Result<Tensor> make(DataType dtype, const Shape& shape);
  // Copies any view of the eager calls.
  static Result<Tensor> from(const TensorView& view);
  // A tensor of the eager calls; shares its buffer.
  static Tensor from(const convgrad::Tensor& tensor);

  DataType dtype() const { return dtype_; }
  const TensorShape& shape() const { return shape_; }
  int dims() const { return shape_.dims(); }
  int64 dim_size(int axis) const { return shape_.dim_size(axis); }
  int64 NumElements() const { return elements_; }
  int64 TotalBytes() const;
  bool IsInitialized() const { return buffer_ != nullptr; }
  // Why it is not initialized.
  convgrad::Status check_memory() const;
  bool SharesBufferWith(const Tensor& other) const;
  // Becomes other's buffer under another shape of as many elements; false and no change otherwise.
  [[nodiscard]] bool CopyFrom(const Tensor& other, const TensorShape& shape);
  // Rows [first, last) of the leading dimension; shares the buffer. Throws convgrad::Error when there are none such.
  Tensor Slice(int64 first, int64 last) const;
  Tensor SubSlice(int64 index) const;  // one row, without that dimension
  StringPiece tensor_data() const;
  void* data() const { return buffer_.get(); }
  // Whether no other tensor shares the buffer.
  bool alone() const { return buffer_.use_count() == 1; }
  // A buffer of its own; not initialized when memory runs out.
  Tensor deep_copy() const;
  // As an operand of the eager calls; none for types that they do not know.
  std::optional<TensorView> view() const;
  // Any element as a double, by flat index; NaN outside.
  double at(int64 index) const;

  template <class T, std::size_t N>
  TensorMap<T, static_cast<int>(N)> tensor() {
    return map<T, static_cast<int>(N)>(check<T>(static_cast<int>(N)));
  }
  template <class T, std::size_t N>
  TensorMap<const T, static_cast<int>(N)> tensor() const {
    return map<const T, static_cast<int>(N)>(check<T>(static_cast<int>(N)));
  }
  template <class T>
  TensorMap<T, 1> flat() {
    return map<T, 1>(check<T>(-1), {NumElements()});
  }
  template <class T>
  TensorMap<const T, 1> flat() const {
    return map<const T, 1>(check<T>(-1), {NumElements()});
  }
  template <class T>
  auto vec() {
    return tensor<T, 1>();
  }
  template <class T>
  auto vec() const {
    return tensor<T, 1>();
  }
  template <class T>
  auto matrix() {
    return tensor<T, 2>();
  }
  template <class T>
  auto matrix() const {
    return tensor<T, 2>();
  }
  // Of one element, whatever the rank.
  template <class T>
  TensorMap<T, 0> scalar() {
    return map<T, 0>(check<T>(0), {});
  }
  template <class T>
  TensorMap<const T, 0> scalar() const {
    return map<const T, 0>(check<T>(0), {});
  }
  template <class T, std::size_t N>
  TensorMap<T, static_cast<int>(N)> shaped(gtl::ArraySlice<int64> sizes) {
    return map<T, static_cast<int>(N)>(check<T>(-1), as_shape<static_cast<int>(N)>(sizes));
  }
  template <class T, std::size_t N>
  TensorMap<const T, static_cast<int>(N)> shaped(gtl::ArraySlice<int64> sizes) const {
    return map<const T, static_cast<int>(N)>(check<T>(-1), as_shape<static_cast<int>(N)>(sizes));
  }
  // N dimensions: the last N - 1 kept, or the first, and all others folded into one.
  template <class T, std::size_t N = 2>
  TensorMap<T, static_cast<int>(N)> flat_inner_dims() {
    return map<T, static_cast<int>(N)>(check<T>(-1), folded<N>(true));
  }
  template <class T, std::size_t N = 2>
  TensorMap<const T, static_cast<int>(N)> flat_inner_dims() const {
    return map<const T, static_cast<int>(N)>(check<T>(-1), folded<N>(true));
  }
  template <class T, std::size_t N = 2>
  TensorMap<T, static_cast<int>(N)> flat_outer_dims() {
    return map<T, static_cast<int>(N)>(check<T>(-1), folded<N>(false));
  }
  template <class T, std::size_t N = 2>
  TensorMap<const T, static_cast<int>(N)> flat_outer_dims() const {
    return map<const T, static_cast<int>(N)>(check<T>(-1), folded<N>(false));
  }

  // "[1 2][3]...", at most limit elements, all when it is negative; without rows "1 2 3...".
  string SummarizeValue(int64 limit, bool rows = true) const;
  string DebugString(int64 limit = 3) const;  // "Tensor<type: float shape: [2,2] values: [1 2][3]...>"

 private:
  struct NoBuffer {};
  explicit Tensor(NoBuffer) {}
  // The buffer, when its elements are of T and rank dimensions stand (-1: any; 0: one element).
  template <class T>
  void* check(int rank) const {
    return check(data_type_for<std::remove_const_t<T>>(), rank);
  }
  void* check(DataType wanted, int rank) const;
  template <std::size_t N>
  std::array<int64, N> folded(bool inner) const {
    static_assert(N >= 1, "one dimension or more");
    std::array<int64, N> sizes{};
    fold(inner, sizes);
    return sizes;
  }
  void fold(bool inner, std::span<int64> sizes) const;
  template <int N>
  std::array<int64, static_cast<std::size_t>(N)> as_shape(gtl::ArraySlice<int64> sizes) const {
    check_sizes(sizes, N);
    std::array<int64, static_cast<std::size_t>(N)> array{};
    std::copy(sizes.begin(), sizes.end(), array.begin());
    return array;
  }
  void check_sizes(gtl::ArraySlice<int64> sizes, int rank) const;
  template <class T, int N>
  TensorMap<T, N> map(void* data) const {
    typename TensorMap<T, N>::Sizes sizes{};
    std::copy(shape_.begin(), shape_.end(), sizes.begin());
    return map<T, N>(data, sizes);
  }
  template <class T, int N>
  TensorMap<T, N> map(void* data, const typename TensorMap<T, N>::Sizes& sizes) const {
    return TensorMap<T, N>(static_cast<T*>(data), sizes);
  }

  std::shared_ptr<void> buffer_;
  DataType dtype_ = DT_FLOAT;
  TensorShape shape_;
  int64 elements_ = 0;
};

}  // namespace convgrad::graph

#endif  // CONVGRAD_GRAPH_TENSOR_H_

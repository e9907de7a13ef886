// Element types, and the small vocabulary types that TensorFlow's C++ programs spell out.
#ifndef CONVGRAD_GRAPH_TYPES_H_
#define CONVGRAD_GRAPH_TYPES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "convgrad/dtype.h"
#include "convgrad/export.h"

namespace convgrad::graph {

using int8 = std::int8_t;
using int16 = std::int16_t;
using int32 = std::int32_t;
using int64 = std::int64_t;
using uint8 = std::uint8_t;
using uint16 = std::uint16_t;
using uint32 = std::uint32_t;
using uint64 = std::uint64_t;
using std::string;
using tstring = string;
using half = Half;
using bfloat16 = BFloat16;
using StringPiece = std::string_view;

enum DataType : int {
  DT_INVALID = 0,
#define CONVGRAD_GRAPH_DTYPE(enumerator, number, type, name, letters) enumerator = number,
#define CONVGRAD_GRAPH_STORED(enumerator, number, type, name, letters) enumerator = number,
#include "convgrad/graph/dtypes.inc"
  DT_STRING = 7,  // has a name; no tensor holds it
};

struct DataTypeInfo {
  DataType dtype;
  std::string_view name;     // "float"
  std::string_view letters;  // "f4", as NumPy writes it after the byte order
  std::size_t bytes;
  bool computes;  // ops take it
};
CONVGRAD_API std::span<const DataTypeInfo> all_data_types();
// Null for a type that no tensor holds.
CONVGRAD_API const DataTypeInfo* data_type_info(DataType dtype);
CONVGRAD_API string DataTypeString(DataType dtype);
CONVGRAD_API int DataTypeSize(DataType dtype);  // in bytes; 0 for a type that no tensor holds
// Takes "float", "float32", "f32" and "DT_FLOAT".
CONVGRAD_API std::optional<DataType> data_type_from_name(std::string_view name);
// The same element type of the eager calls; none for int64 and stored-only types.
CONVGRAD_API std::optional<DType> eager_dtype(DataType dtype);
CONVGRAD_API DataType data_type_of(DType dtype);

// DT_INVALID for C++ types that no tensor holds. long and long long are both 64 bits wide.
template <class T>
constexpr DataType data_type_for() {
#define CONVGRAD_GRAPH_DTYPE(enumerator, number, type, name, letters) \
  if constexpr (std::is_same_v<T, type>) return enumerator;
#define CONVGRAD_GRAPH_STORED(enumerator, number, type, name, letters) \
  if constexpr (std::is_same_v<T, type>) return enumerator;
#include "convgrad/graph/dtypes.inc"
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T> && sizeof(T) == 8) return DT_INT64;
  if constexpr (std::is_convertible_v<T, string>) return DT_STRING;
  return DT_INVALID;
}
template <class T>
struct DataTypeToEnum {
  static constexpr DataType value = data_type_for<T>();
  static constexpr DataType v() { return value; }
};

template <DataType dtype>
struct EnumToDataType {};
#define CONVGRAD_GRAPH_DTYPE(enumerator, number, type, name, letters) \
  template <>                                                         \
  struct EnumToDataType<enumerator> {                                 \
    using Type = type;                                                \
  };
#define CONVGRAD_GRAPH_STORED(enumerator, number, type, name, letters) \
  CONVGRAD_GRAPH_DTYPE(enumerator, number, type, name, letters)
#include "convgrad/graph/dtypes.inc"

// Calls visitor(T{}) with the C++ type of a type that ops compute with; the one switch over them.
template <class Visitor>
decltype(auto) visit(DataType dtype, Visitor&& visitor) {
  switch (dtype) {
#define CONVGRAD_GRAPH_DTYPE(enumerator, number, type, name, letters) \
  case enumerator: return visitor(type{});
#include "convgrad/graph/dtypes.inc"
    default: break;
  }
  __builtin_unreachable();
}

// A view of consecutive elements that also takes braced lists, as TensorFlow's does. A list lives
// until the end of the full expression, so use it only as an argument.
namespace gtl {
template <class T>
class ArraySlice {
 public:
  constexpr ArraySlice() = default;
  constexpr ArraySlice(const T* data, std::size_t size) : data_(data), size_(size) {}
  ArraySlice(const std::vector<T>& list) : ArraySlice(list.data(), list.size()) {}  // NOLINT: implicit like its model
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"  // said above
#endif
  constexpr ArraySlice(std::initializer_list<T> list) : ArraySlice(list.begin(), list.size()) {}  // NOLINT
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  template <std::size_t N>
  constexpr ArraySlice(const T (&list)[N]) : ArraySlice(list, N) {}  // NOLINT
  template <std::size_t N>
  constexpr ArraySlice(const std::array<T, N>& list) : ArraySlice(list.data(), N) {}       // NOLINT
  constexpr ArraySlice(std::span<const T> list) : ArraySlice(list.data(), list.size()) {}  // NOLINT

  constexpr const T* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr const T& operator[](std::size_t index) const { return data_[index]; }
  constexpr const T& front() const { return data_[0]; }
  constexpr const T& back() const { return data_[size_ - 1]; }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};
}  // namespace gtl

}  // namespace convgrad::graph

#endif  // CONVGRAD_GRAPH_TYPES_H_

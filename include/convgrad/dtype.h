// Element types: the enum, the 16-bit storage types, and the facts of each row of dtypes.inc.
#ifndef CONVGRAD_DTYPE_H_
#define CONVGRAD_DTYPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "convgrad/export.h"

namespace convgrad {

// IEEE binary16 and bfloat16 as they lie in memory. Conversions round to nearest, ties to even,
// straight from the source type (no double rounding); NaN stays NaN; overflow goes to infinity.
struct Half {
  std::uint16_t bits = 0;
  CONVGRAD_API static Half from(float value);
  CONVGRAD_API static Half from(double value);
  CONVGRAD_API explicit operator float() const;
  explicit operator double() const { return static_cast<float>(*this); }
};

struct BFloat16 {
  std::uint16_t bits = 0;
  CONVGRAD_API static BFloat16 from(float value);
  CONVGRAD_API static BFloat16 from(double value);
  CONVGRAD_API explicit operator float() const;
  explicit operator double() const { return static_cast<float>(*this); }
};

enum class DType : int {
#define CONVGRAD_DTYPE(id, type, accumulator, tf, numpy, roundoff, dl_code, dl_bits) id,
#include "convgrad/dtypes.inc"
#undef CONVGRAD_DTYPE
};

struct DTypeInfo {
  DType dtype;
  std::string_view id;          // "f32": in problem strings and kernel names
  std::string_view tf_name;     // "float"
  std::string_view numpy_name;  // "float32"
  std::size_t bytes;
  double unit_roundoff;
  int dlpack_code;
  int dlpack_bits;
};

CONVGRAD_API std::span<const DTypeInfo> all_dtypes();
CONVGRAD_API const DTypeInfo& info(DType dtype);
// Takes an id, a TensorFlow name or a NumPy name.
CONVGRAD_API std::optional<DType> dtype_from_name(std::string_view name);
inline std::size_t size_of(DType dtype) { return info(dtype).bytes; }

// DTypeOf<float>::value == DType::f32, and so on; also the type that sums are kept in.
template <class T>
struct DTypeOf;
#define CONVGRAD_DTYPE(id, type, accumulator, tf, numpy, roundoff, dl_code, dl_bits) \
  template <>                                                                        \
  struct DTypeOf<type> {                                                             \
    static constexpr DType value = DType::id;                                        \
    using Accumulator = accumulator;                                                 \
  };
#include "convgrad/dtypes.inc"
#undef CONVGRAD_DTYPE

// Calls visitor(T{}) with the C++ type of dtype; the one switch over element types.
template <class Visitor>
decltype(auto) visit(DType dtype, Visitor&& visitor) {
  switch (dtype) {
#define CONVGRAD_DTYPE(id, type, accumulator, tf, numpy, roundoff, dl_code, dl_bits) \
  case DType::id: return visitor(type{});
#include "convgrad/dtypes.inc"
#undef CONVGRAD_DTYPE
  }
  __builtin_unreachable();
}

}  // namespace convgrad

#endif  // CONVGRAD_DTYPE_H_

// The dtype table and the 16-bit conversions.
#include "convgrad/dtype.h"

#include <bit>
#include <iterator>

namespace convgrad {
namespace {

constexpr DTypeInfo kDTypes[] = {
#define CONVGRAD_DTYPE(id, type, accumulator, tf, numpy, roundoff, dl_code, dl_bits) \
  {DType::id, #id, tf, numpy, sizeof(type), roundoff, dl_code, dl_bits},
#include "convgrad/dtypes.inc"
#undef CONVGRAD_DTYPE
};

struct Format16 {
  int fraction_bits;
  int exponent_bias;
  std::uint16_t infinity;  // all exponent bits, no fraction
};
constexpr Format16 kHalf{10, 15, 0x7c00};
constexpr Format16 kBFloat16{7, 127, 0x7f80};

// Rounds a double (a float converts exactly) to a 16-bit format, ties to even, in one step.
//
// magnitude = significand * 2^exponent with the significand as a 53-bit integer. The target's last
// place is 2^last for the value's binade, but never below the subnormals' 2^(1 - bias - fraction).
// Shifting the significand right by (last - exponent) and rounding once gives the fraction with
// the exponent field carried in by addition, which also turns a full fraction into the next binade
// and the top binade into infinity.
std::uint16_t round_to_16(double value, const Format16& format) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 63) << 15);
  const auto field = static_cast<int>((bits >> 52) & 0x7ff);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  if (field == 0x7ff) {
    // A NaN keeps its top fraction bits and is made quiet; infinity stays.
    const int drop = 52 - format.fraction_bits;
    const auto quiet = static_cast<std::uint16_t>(1u << (format.fraction_bits - 1));
    const auto payload = static_cast<std::uint16_t>(fraction >> drop);
    return fraction == 0 ? sign | format.infinity
                         : static_cast<std::uint16_t>(sign | format.infinity | quiet | payload);
  }
  if (field == 0) return sign;  // zero, or below 2^-1022: far under half the smallest subnormal
  const std::uint64_t significand = fraction | (std::uint64_t{1} << 52);
  const int biased = field - 1023 + format.exponent_bias;  // target's exponent field if normal
  const int shift = 52 - format.fraction_bits + (biased > 0 ? 0 : 1 - biased);
  if (shift > 54) return sign;  // under half the smallest subnormal
  if (biased >= (format.infinity >> format.fraction_bits)) return sign | format.infinity;
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  const std::uint64_t rest = significand & ((half << 1) - 1);
  std::uint64_t rounded = significand >> shift;
  if (rest > half || (rest == half && (rounded & 1))) ++rounded;
  // For a normal result the leading 1 of `rounded` adds one to the exponent field.
  const std::uint64_t exponent_field = biased > 0 ? static_cast<std::uint64_t>(biased - 1) : 0;
  return static_cast<std::uint16_t>(sign | ((exponent_field << format.fraction_bits) + rounded));
}

}  // namespace

Half Half::from(float value) { return {round_to_16(value, kHalf)}; }
Half Half::from(double value) { return {round_to_16(value, kHalf)}; }
BFloat16 BFloat16::from(float value) { return {round_to_16(value, kBFloat16)}; }
BFloat16 BFloat16::from(double value) { return {round_to_16(value, kBFloat16)}; }

Half::operator float() const {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0) {  // zero or subnormal: fraction * 2^-24, exact in f32
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  const std::uint32_t field = exponent == 0x1f ? 0xffu : exponent + (127 - 15);
  return std::bit_cast<float>(sign | (field << 23) | (fraction << 13));
}

BFloat16::operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

std::span<const DTypeInfo> all_dtypes() { return kDTypes; }

// A number cast to DType that is no row gets a row that nothing accepts.
const DTypeInfo& info(DType dtype) {
  static constexpr DTypeInfo kUnknown{DType::f32, "unknown", "unknown", "unknown", 0, 0.0, 0, 0};
  const auto row = static_cast<std::size_t>(dtype);
  return row < std::size(kDTypes) ? kDTypes[row] : kUnknown;
}

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const DTypeInfo& row : kDTypes) {
    if (name == row.id || name == row.tf_name || name == row.numpy_name) return row.dtype;
  }
  return std::nullopt;
}

}  // namespace convgrad

// Numbers of the matrix units: 16-bit elements, and sums that are cut off rather than rounded.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace convgrad::cuda {

inline double element(bool bf16, std::uint16_t bits) {
  if (bf16) return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  const std::uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31, mantissa = bits & 1023u;
  if (exponent == 0) return (sign != 0 ? -1 : 1) * static_cast<double>(mantissa) / (1 << 24);
  return std::bit_cast<float>(sign | (exponent == 31 ? 255 : exponent + 112) << 23 | mantissa << 13);
}

// The float next to x on the side of zero.
inline float toward_zero(double x) {
  const float nearest = static_cast<float>(x);
  if (!(std::fabs(static_cast<double>(nearest)) > std::fabs(x)) || std::isinf(nearest)) return nearest;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(nearest) - 1);
}

}  // namespace convgrad::cuda

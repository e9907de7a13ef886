// Division by a number that the host knows.
#pragma once

#include <cstdint>

#include "engines/cuda/atoms/marks.h"

namespace convgrad::cuda {

// floor(value / divisor) = value * ceil(2^(31 + shift) / divisor) >> (31 + shift), shift = ceil(log2 divisor), exact
// for 0 <= value < 2^31: a multiplication where a division takes some 20 instructions.
struct Divider {
  unsigned divisor = 1;
  unsigned multiplier = 0x80000000u;
  unsigned shift = 0;

  Divider() = default;
  explicit Divider(std::int64_t by) : divisor(static_cast<unsigned>(by)) {
    while ((std::int64_t{1} << shift) < by) ++shift;
    multiplier = static_cast<unsigned>(((std::uint64_t{1} << (31 + shift)) + divisor - 1) / divisor);
  }

  CONVGRAD_BOTH int quotient(int value) const {
    const auto product = static_cast<std::uint64_t>(static_cast<unsigned>(value)) * multiplier;
    return static_cast<int>(product >> (31 + shift));
  }
  CONVGRAD_BOTH int remainder(int value) const { return value - quotient(value) * static_cast<int>(divisor); }
  // The fastest digit of a number, which keeps the others.
  CONVGRAD_BOTH int take(int& number) const {
    const int rest = quotient(number), digit = number - rest * static_cast<int>(divisor);
    number = rest;
    return digit;
  }
};

// The last digit of a number whose digits have these sizes; the others stay.
inline CONVGRAD_BOTH int take(int& number, const Divider& by) {
  const int quotient = by.quotient(number), rest = number - quotient * static_cast<int>(by.divisor);
  number = quotient;
  return rest;
}

}  // namespace convgrad::cuda

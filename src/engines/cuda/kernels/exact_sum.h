// Sums that keep their rounding errors.
#pragma once

#include "engines/cuda/kernels/elements.h"

namespace convgrad::cuda {

// high + low is the sum; low holds what rounding took from high (two-sum: exact for any two numbers).
template <class Number>
struct KeepingSum {
  Number high = 0, low = 0;

  CONVGRAD_BOTH void add(Number term) {
    const Number sum = high + term, part = sum - high;
    low += (high - (sum - part)) + (term - part);
    high = sum;
  }
  CONVGRAD_BOTH void add_product(Number a, Number b) {
    const Number product = a * b;
    add(product);
    low += multiply_add(a, b, -product);
  }
  // An infinity leaves no errors, but differences of infinities.
  CONVGRAD_BOTH Number value() const { return is_finite(high) ? high + low : high; }
};
using ExactSum = KeepingSum<double>;

struct WrappingSum {
  std::uint32_t sum = 0;
  CONVGRAD_BOTH void add(std::uint32_t term) { sum += term; }
  CONVGRAD_BOTH void add_product(std::uint32_t a, std::uint32_t b) { sum += a * b; }
  CONVGRAD_BOTH std::uint32_t value() const { return sum; }
};

template <class Exact>
struct SumOf {
  using Type = ExactSum;
};
template <>
struct SumOf<std::uint32_t> {
  using Type = WrappingSum;
};

}  // namespace convgrad::cuda

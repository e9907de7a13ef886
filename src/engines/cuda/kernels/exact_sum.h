// Sums that keep their rounding errors.
#pragma once

#include "engines/cuda/kernels/elements.h"

namespace convgrad::cuda {

// high + low is the sum; low holds what rounding took from high (two-sum: exact for any two numbers).
struct ExactSum {
  double high = 0, low = 0;

  CONVGRAD_BOTH void add(double term) {
    const double sum = high + term, part = sum - high;
    low += (high - (sum - part)) + (term - part);
    high = sum;
  }
  CONVGRAD_BOTH void add_product(double a, double b) {
    const double product = a * b;
    add(product);
    low += multiply_add(a, b, -product);
  }
  // An infinity leaves no errors, but differences of infinities.
  CONVGRAD_BOTH double value() const { return is_finite(high) ? high + low : high; }
};

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

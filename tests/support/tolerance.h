// The one place tolerances come from: the stated error bound, from dtype and data.
#pragma once

#include <cfloat>
#include <cmath>

#include "convgrad/dtype.h"
#include "convgrad/math_mode.h"

namespace convgrad::test {

// Half the distance between neighbouring numbers of dtype around value.
inline double half_ulp(DType dtype, double value) {
  if (dtype == DType::i32) return 0;
  const double u = info(dtype).unit_roundoff;
  const double smallest = dtype == DType::f16    ? 0x1p-25
                          : dtype == DType::f64  ? 0
                          : dtype == DType::bf16 ? 0x1p-134
                                                 : 0x1p-150;  // subnormals
  return std::fmax(std::fabs(value) * u, smallest);
}

// |computed - exact| <= (8 u + e) sum|ab| + half an ulp of the store; u of the accumulator (f32 for 16-bit), e of the
// plan's math: 2^-15 for tf32, otherwise 0.
inline double error_bound(DType dtype, double exact, double sum_of_magnitudes, MathMode math = MathMode::standard) {
  const double u = dtype == DType::f64 ? 0x1p-53 : dtype == DType::i32 ? 0.0 : 0x1p-24;
  const double accumulated = (8 * u + info(math).product_error) * sum_of_magnitudes;
  return accumulated + half_ulp(dtype, std::fabs(exact) + accumulated);
}

}  // namespace convgrad::test

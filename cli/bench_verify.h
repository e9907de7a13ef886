// Sampled elements of a result against the definition.
#pragma once

#include "convgrad/geometry.h"
#include "convgrad/math_mode.h"
#include "convgrad/tensor.h"

namespace convgrad::cli {

// The operands of a geometry, in the order of operands(), and what was computed from them.
struct Computation {
  const Geometry& geometry;
  const Tensor& first;
  const Tensor& second;
  const Tensor& result;
  MathMode math = MathMode::standard;  // the plan's
};

// |computed - exact| <= (8 u + e) sum|a b| + half a unit in the last place of the store, where u is 2^-53
// for f64 and 2^-24 for the other element types, and e the product_error of the math.
struct Verdict {
  bool right = true;
  double worst = 0;        // of |computed - exact| over that bound, in the elements looked at
  std::int64_t where = 0;  // flat index of the worst element
};

// Forward, input gradient and filter gradient of the float types.
Verdict verify(const Computation& computation);

}  // namespace convgrad::cli

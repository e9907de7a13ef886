// MathMode: what a caller permits an engine to do to a result's last bits.
//
//   convgrad::make_plan(problem, {.math = convgrad::MathMode::tf32});
#ifndef CONVGRAD_MATH_MODE_H_
#define CONVGRAD_MATH_MODE_H_

#include <span>
#include <string_view>

#include "convgrad/export.h"
#include "convgrad/status.h"

namespace convgrad {

enum class MathMode : int {
#define CONVGRAD_MATH(name, product_error, meaning) name,
#include "convgrad/math_modes.inc"
#undef CONVGRAD_MATH
};

struct MathInfo {
  MathMode math;
  std::string_view name;
  double product_error;  // what a product of two f32 may be off besides the errors of its sum, as a share of |ab|
  std::string_view meaning;
};
CONVGRAD_API std::span<const MathInfo> all_math();
CONVGRAD_API const MathInfo& info(MathMode math);

// "tf32"; a name that no mode has is refused.
CONVGRAD_API Result<MathMode> math_from_name(std::string_view name);

}  // namespace convgrad

#endif  // CONVGRAD_MATH_MODE_H_

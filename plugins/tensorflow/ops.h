// The rows of ops.inc.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "convgrad/geometry.h"

namespace convgrad::tensorflow {

enum class Form { plain, depthwise, with_bias };
enum class SizesFrom { none, vector, shape };
enum class Route { own, onednn, onednn_asked, onednn_no_bf16 };

// TensorFlow's numbers for element types.
using TfDType = int;
inline constexpr TfDType kTfInt32 = 3, kTfInt64 = 9;

struct TfDTypeRow {
  DType dtype;
  TfDType number;
  unsigned bit;  // in OpRow::dtypes
};
inline constexpr unsigned kHalf = 1, kBFloat16 = 2, kFloat = 4, kDouble = 8, kInt32 = 16;
inline constexpr unsigned kFloats = kHalf | kBFloat16 | kFloat | kDouble;
inline constexpr TfDTypeRow kTfDTypes[] = {{DType::f16, 19, kHalf},
                                           {DType::bf16, 14, kBFloat16},
                                           {DType::f32, 1, kFloat},
                                           {DType::f64, 2, kDouble},
                                           {DType::i32, kTfInt32, kInt32}};

struct OpRow {
  const char* name;
  Op op;
  Form form;
  SizesFrom sizes;
  unsigned dtypes;
  Route route;
};

inline constexpr OpRow kOps[] = {
#define CONVGRAD_TF_OP(name, op, form, sizes, dtypes, route) \
  {#name, Op::op, Form::form, SizesFrom::sizes, dtypes, Route::route},
#include "ops.inc"
#undef CONVGRAD_TF_OP
};
inline constexpr std::size_t kOpCount = std::size(kOps);

}  // namespace convgrad::tensorflow

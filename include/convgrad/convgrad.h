// convgrad: the gradients of convolutions, as TensorFlow defines them, without TensorFlow.
//
//   #include <convgrad/convgrad.h>
//   #include <cstdio>
//   #include <vector>
//
//   int main() {
//     using namespace convgrad;
//     std::vector<float> values(32);
//     for (int i = 0; i < 32; ++i) values[i] = float(i + 1);
//     Tensor x = Tensor::from<float>({2, 2, 2, 2, 2}, values).value();
//     Tensor dy = Tensor::from<float>({2, 1, 1, 1, 2}, std::vector<float>{2856, 2992, 6952, 7344}).value();
//     Result<Tensor> dw = conv3d_backprop_filter_v2(
//         x, Shape{2, 2, 2, 2, 2}, dy, {.strides = {1, 4, 3, 2, 1}, .padding = Padding::same()});
//     std::puts(dw.ok() ? dw->to_text(4).c_str() : dw.status().message().c_str());
//   }
//
// One gradient passes through: problem.h -> geometry.h (the only validator) -> plan.h (pure data,
// with a why) -> an engine -> a kernel. conv.h does all of it in one call.
#ifndef CONVGRAD_CONVGRAD_H_
#define CONVGRAD_CONVGRAD_H_

#include "convgrad/conv.h"
#include "convgrad/dtype.h"
#include "convgrad/geometry.h"
#include "convgrad/knobs.h"
#include "convgrad/math_mode.h"
#include "convgrad/plan.h"
#include "convgrad/problem.h"
#include "convgrad/status.h"
#include "convgrad/system.h"
#include "convgrad/tensor.h"
#include "convgrad/version.h"

#endif  // CONVGRAD_CONVGRAD_H_

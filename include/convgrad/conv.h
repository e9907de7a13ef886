// The eager calls: TensorFlow's op names over tensor views.
//
//   using namespace convgrad;
//   Tensor x = Tensor::from<float>({1, 4, 4, 1}, values).value();
//   Result<Tensor> dw = conv2d_backprop_filter(x, Shape{3, 3, 1, 1}, dy,
//                                              {.strides = {1, 1, 1, 1}, .padding = Padding::same()});
//   if (!dw.ok()) std::puts(dw.status().message().c_str());
//
// All of them check first, allocate the result, and are safe to call from many threads. The result
// never shares memory with the operands. Filters are [spatial..., in, out] in both layouts.
#ifndef CONVGRAD_CONV_H_
#define CONVGRAD_CONV_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convgrad/export.h"
#include "convgrad/plan.h"
#include "convgrad/problem.h"
#include "convgrad/status.h"
#include "convgrad/tensor.h"

namespace convgrad {

// SAME, VALID, or explicit zeros. There is no default: leaving it out is refused, as in TensorFlow.
struct Padding {
  std::string name = {};
  std::vector<std::int64_t> pairs = {};  // before, after for every dimension in data_format order

  static Padding same() { return {"SAME", {}}; }
  static Padding valid() { return {"VALID", {}}; }
  // One (before, after) a dimension, batch and channels (which must be 0) included: {0,0,1,2,...}.
  static Padding explicit_pairs(std::vector<std::int64_t> pairs) { return {"EXPLICIT", std::move(pairs)}; }
};

struct ConvOptions {
  std::vector<std::int64_t> strides = {};  // one a dimension in data_format order; empty: all 1
  Padding padding = {};
  std::vector<std::int64_t> dilations = {};  // the same
  std::string data_format = {};              // empty: NHWC or NDHWC
  Policy policy = {};
};

using Sizes = std::span<const std::int64_t>;

CONVGRAD_API Result<Tensor> conv2d(const TensorView& input, const TensorView& filter, const ConvOptions& options);
CONVGRAD_API Result<Tensor> conv3d(const TensorView& input, const TensorView& filter, const ConvOptions& options);

CONVGRAD_API Result<Tensor> conv2d_backprop_filter(const TensorView& input, Sizes filter_sizes,
                                                   const TensorView& out_backprop, const ConvOptions& options);
CONVGRAD_API Result<Tensor> conv3d_backprop_filter_v2(const TensorView& input, Sizes filter_sizes,
                                                      const TensorView& out_backprop, const ConvOptions& options);

// input_sizes of conv2d_backprop_input may be two numbers, height and width.
CONVGRAD_API Result<Tensor> conv2d_backprop_input(Sizes input_sizes, const TensorView& filter,
                                                  const TensorView& out_backprop, const ConvOptions& options);
CONVGRAD_API Result<Tensor> conv3d_backprop_input_v2(Sizes input_sizes, const TensorView& filter,
                                                     const TensorView& out_backprop, const ConvOptions& options);

// The transposed convolutions are the input gradients under another name: output_shape is
// input_sizes, and filter is [spatial..., out, in] seen from the transpose.
CONVGRAD_API Result<Tensor> conv2d_transpose(const TensorView& input, const TensorView& filter, Sizes output_shape,
                                             const ConvOptions& options);
CONVGRAD_API Result<Tensor> conv3d_transpose(const TensorView& input, const TensorView& filter, Sizes output_shape,
                                             const ConvOptions& options);

// Any op by its id, for callers that choose at run time (bindings, command line, graph). sizes is
// the size vector of the gradients and unused by the forward ops.
struct OpOperands {
  TensorView first = {};   // input (forward, filter gradient) or filter (input gradient)
  TensorView second = {};  // filter (forward) or out_backprop (gradients)
  Sizes sizes = {};
};
CONVGRAD_API Result<Tensor> compute(Op op, const OpOperands& operands, const ConvOptions& options);

// Any problem by its numbers, 1-D and bias_grad included.
CONVGRAD_API Result<Tensor> compute(const ConvProblem& problem, const TensorView& first, const TensorView& second,
                                    const Policy& policy = {});

struct ConvGradients {
  Tensor input;
  Tensor filter;
  Tensor bias;  // sum of out_backprop over all but its channels
};
// Both gradients and the bias gradient of y = conv(input, filter) + bias; 1-D, 2-D or 3-D by input's rank. The bits of
// the separate calls; layers that wait for memory take less time than by those.
CONVGRAD_API Result<ConvGradients> conv_gradients(const TensorView& input, const TensorView& filter,
                                                  const TensorView& out_backprop, const ConvOptions& options);

// The plans of the same three, for run(): also for tensors in a GPU's memory, where options.policy.place says. Looks at
// shapes and element types alone.
struct ConvGradientPlans {
  Plan input;
  Plan filter;
  Plan bias;
};
CONVGRAD_API Result<ConvGradientPlans> plan_gradients(const TensorView& input, const TensorView& filter,
                                                      const TensorView& out_backprop, const ConvOptions& options);

}  // namespace convgrad

#endif  // CONVGRAD_CONV_H_

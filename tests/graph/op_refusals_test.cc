// What ops refuse: code, argument and a part of the sentence, the same when a graph is built and when it runs.
#include "one_op.h"

namespace convgrad::graph {
namespace {

using test::numbers;
using test::run_op;
using test::tensor;

struct Refused {
  const char* op;
  std::vector<Tensor> inputs;
  AttrMap attrs;
  const char* argument;
  const char* text;
  Code code = Code::kInvalidArgument;
};

Tensor zeros(const Shape& shape, DataType dtype = DT_FLOAT) { return Tensor(dtype, TensorShape(shape)); }

void expect_refused(const Refused& refused) {
  const test::Ran ran = run_op(refused.op, refused.inputs, refused.attrs);
  ASSERT_FALSE(ran.status.ok()) << refused.op << " took " << refused.text;
  EXPECT_EQ(ran.status.code(), refused.code) << ran.status;
  EXPECT_EQ(ran.status.core().argument(), refused.argument) << ran.status;
  EXPECT_EQ(ran.status.core().node(), "it") << ran.status;
  EXPECT_NE(ran.status.message().find(refused.text), string::npos) << ran.status;
  EXPECT_TRUE(ran.status.message().starts_with(string(refused.op) + ": ")) << ran.status;
}

TEST(Refusals, of_shapes_that_do_not_fit) {
  const Refused table[] = {
      {"Add", {zeros({2}), zeros({3})}, {}, "y", "Incompatible shapes: [2] vs. [3]"},
      {"Mul", {zeros({0}), zeros({3})}, {}, "y", "Incompatible shapes: [0] vs. [3]"},
      {"Sub", {zeros({2, 3}), zeros({2, 1, 2})}, {}, "y", "Incompatible shapes"},
      {"AddN", {zeros({2}), zeros({3})}, {}, "inputs", "inputs must have one shape"},
      {"ReluGrad", {zeros({2}), zeros({3})}, {}, "features", "inputs must have one shape"},
      {"SumToShapeOf", {zeros({2, 3}), zeros({2})}, {}, "like", "like does not broadcast to the shape of x"},
      {"SumToShapeOf", {zeros({3}), zeros({1, 3})}, {}, "like", "like does not broadcast"},
      {"BroadcastToShapeOf", {zeros({2}), zeros({2, 3})}, {}, "x", "x does not broadcast to the shape of like"},
      {"MatMul", {zeros({2, 3}), zeros({2, 3})}, {}, "b", "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]"},
      {"MatMul", {zeros({2}), zeros({2, 3})}, {}, "a", "a must be 2-dimensional"},
      {"BiasAdd", {zeros({2, 3}), zeros({2})}, {}, "bias", "as many biases as the channels"},
      {"BiasAdd", {zeros({2, 3, 2}), zeros({2})}, {{"data_format", string("NCHW")}}, "bias", "[2] vs. 3 in [2,3,2]"},
      {"BiasAdd", {zeros({3}), zeros({3})}, {}, "value", "Input tensor must be at least 2D"},
      {"BiasAdd", {zeros({2, 3}), zeros({1, 3})}, {}, "bias", "bias must be a vector"},
      {"BiasAddGrad", {zeros({3})}, {}, "out_backprop", "must be at least 2D"},
      {"Softmax", {zeros({})}, {}, "logits", "logits must have >= 1 dimension"},
      {"SoftmaxCrossEntropyWithLogits", {zeros({2, 3}), zeros({2, 4})}, {}, "labels", "inputs must have one shape"},
      {"SoftmaxCrossEntropyWithLogits", {zeros({3}), zeros({3})}, {}, "features", "features must be 2-dimensional"},
  };
  for (const Refused& refused : table) expect_refused(refused);
}

TEST(Refusals, of_sizes_axes_and_permutations) {
  const Tensor grid = zeros({2, 3});
  const int64 huge = int64{1} << 40;
  const Refused table[] = {
      {"Reshape", {grid, numbers({4, 2})}, {}, "shape", "is a tensor with 6 values, but the requested shape has 8"},
      {"Reshape", {grid, numbers({-1, 4})}, {}, "shape", "requires a multiple of 4"},
      {"Reshape", {grid, numbers({-1, -1})}, {}, "shape", "Only one input size may be -1, not both 0 and 1"},
      {"Reshape", {grid, numbers({-2, 3})}, {}, "shape", "Size 0 must be non-negative, not -2"},
      {"Reshape", {zeros({0}), numbers({0, -1})}, {}, "shape", "cannot infer the missing input size"},
      {"Reshape", {grid, numbers({huge, huge}, DT_INT64)}, {}, "shape", "more than 2**63 - 1 elements"},
      {"Reshape", {grid, zeros({1, 2}, DT_INT32)}, {}, "shape", "shape must be a vector"},
      {"Transpose", {grid, numbers({0})}, {}, "perm", "expects a vector of size 2"},
      {"Transpose", {grid, numbers({0, 0})}, {}, "perm", "0 is duplicated in the permutation"},
      {"Transpose", {grid, numbers({0, 2})}, {}, "perm", "2 is out of range"},
      {"Transpose", {grid, numbers({0, -1})}, {}, "perm", "-1 is out of range"},
      {"InvertPermutation", {numbers({1, 1})}, {}, "x", "1 is duplicated"},
      {"InvertPermutation", {numbers({5}, DT_INT64)}, {}, "x", "5 is out of range"},
      {"Sum", {grid, numbers({2})}, {}, "axis", "Invalid reduction dimension"},
      {"Mean", {grid, numbers({-3})}, {}, "axis", "Invalid reduction dimension"},
      {"Sum", {grid, numbers({1, -1})}, {}, "axis", "duplicate dimension"},
      {"Sum", {grid, zeros({1, 1}, DT_INT32)}, {}, "axis", "axis must be a vector"},
      {"SumGrad", {zeros({2}), grid, numbers({0})}, {}, "dy", "inputs must have one shape"},
      {"MeanGrad", {zeros({3}), grid, numbers({4})}, {}, "axis", "Invalid reduction dimension"},
  };
  for (const Refused& refused : table) expect_refused(refused);
}

TEST(Refusals, of_types) {
  const Refused table[] = {
      {"Add", {zeros({1}), zeros({1}, DT_DOUBLE)}, {}, "y", "Inconsistent values for attr 'T' float vs. double"},
      {"Softmax", {zeros({1}, DT_INT32)}, {}, "T", "Value for attr 'T' of int32 is not in the list"},
      {"Cast", {zeros({1})}, {{"DstT", DT_BOOL}}, "DstT", "Value for attr 'DstT' of bool is not in the list"},
      {"Sum", {zeros({1}), zeros({1})}, {}, "Tidx", "Value for attr 'Tidx' of float"},
      {"AvgPoolGrad",
       {zeros({4}, DT_INT64), zeros({1, 1, 1, 1})},
       {{"ksize", std::vector<int64>{1, 1, 1, 1}},
        {"strides", std::vector<int64>{1, 1, 1, 1}},
        {"padding", string("SAME")}},
       "orig_input_shape",
       "has another element type"},
  };
  for (const Refused& refused : table) expect_refused(refused);
}

using Numbers = std::vector<int64>;

AttrMap window(Numbers ksize, Numbers strides = {1, 1, 1, 1}, string padding = "VALID", Numbers pairs = {}) {
  return {{"ksize", std::move(ksize)},
          {"strides", std::move(strides)},
          {"padding", std::move(padding)},
          {"explicit_paddings", std::move(pairs)}};
}

TEST(Refusals, of_windows) {
  const Tensor image = zeros({1, 3, 3, 1}), small = zeros({1, 2, 2, 1});
  const AttrMap pairs = window({1, 2, 2, 1});
  const Refused table[] = {
      {"MaxPool", {image}, window({2, 2}), "ksize", "ksize field must specify 4 dimensions"},
      {"MaxPool", {image}, window({1, 0, 2, 1}), "ksize", "ksize must be positive"},
      {"AvgPool", {image}, window({2, 2, 2, 1}), "ksize", "not supported on the batch and channel dimensions"},
      {"MaxPool", {image}, window({1, 2, 2, 2}), "ksize", "not supported on the batch and channel dimensions"},
      {"MaxPool", {image}, window({1, 5, 2, 1}), "ksize", "Computed output size would be negative"},
      {"MaxPool", {zeros({3, 3})}, pairs, "input", "input must be 4-dimensional"},
      {"AvgPool", {zeros({3, 3})}, pairs, "value", "value must be 4-dimensional"},
      {"MaxPool3D", {image}, window({1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}), "input", "input must be 5-dimensional"},
      {"MaxPool", {image}, window({1, 2, 2, 1}, {1, 1}), "strides", "must specify 4 dimensions"},
      {"MaxPool", {image}, window({1, 2, 2, 1}, {1, 0, 1, 1}), "strides", "strides should be larger than 0"},
      {"MaxPool",
       {image},
       window({1, 2, 2, 1}, {2, 1, 1, 1}),
       "strides",
       "in the batch and depth dimensions",
       Code::kUnimplemented},
      {"MaxPool",
       {image},
       window({1, 2, 2, 1}, {1, 1, 1, 1}, "EXPLICIT"),
       "explicit_paddings",
       "must contain 8 values"},
      {"AvgPool",
       {image},
       window({1, 2, 2, 1}, {1, 1, 1, 1}, "EXPLICIT", {0, 0, 2, 0, 0, 0, 0, 0}),
       "explicit_paddings",
       "padding must be smaller than the window"},
      {"AvgPool",
       {zeros({1, 0, 3, 1})},
       window({1, 2, 2, 1}, {1, 1, 1, 1}, "EXPLICIT", {0, 0, 1, 1, 0, 0, 0, 0}),
       "explicit_paddings",
       "in the padding of an empty input"},
      {"MaxPoolGrad", {image, image, small}, pairs, "orig_output", "inputs must have one shape"},
      {"MaxPoolGrad", {image, small, image}, pairs, "grad", "inputs must have one shape"},
      {"MaxPoolGradGrad", {image, small, small}, pairs, "grad", "inputs must have one shape"},
      {"AvgPoolGrad", {numbers({1, 3, 3, 1}), image}, pairs, "grad", "inputs must have one shape"},
      {"AvgPoolGrad", {numbers({3, 3}), image}, pairs, "orig_input_shape", "1-dimensional and 4 elements"},
      {"AvgPoolGrad", {numbers({1, -3, 3, 1}), image}, pairs, "orig_input_shape", "1-dimensional and 4 elements"},
      {"AvgPoolGrad",
       {numbers({1, 1 << 30, 1 << 30, 1}), small},
       pairs,
       "orig_input_shape",
       "more than the limit",
       Code::kResourceExhausted},
  };
  for (const Refused& refused : table) expect_refused(refused);
}

}  // namespace
}  // namespace convgrad::graph

// A program for the page of tensorflow::ops::Conv3DBackpropInputV2, its scene's numbers, through compat/.
#include "tensorflow/cc/client/client_session.h"
#include "tensorflow/cc/framework/scope.h"
#include "tensorflow/cc/ops/const_op.h"
#include "tensorflow/cc/ops/nn_ops.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/logging.h"

using tensorflow::ClientSession;
using tensorflow::Scope;
using tensorflow::Tensor;
namespace ops = tensorflow::ops;

int main() {
  Tensor filter(tensorflow::DT_FLOAT, tensorflow::TensorShape({2, 2, 2, 2, 2}));
  float next = 0;
  for (int i = 0; i < filter.NumElements(); ++i) filter.flat<float>()(i) = next += 1;

  Scope scope = Scope::NewRootScope();
  auto input_sizes = ops::Const(scope, {2, 2, 2, 2, 2});
  auto out_backprop = ops::Const(scope, {{{{{2856.f, 2992.f}}}}, {{{{6952.f, 7344.f}}}}});
  std::vector<int> strides = {1, 4, 3, 2, 1};
  auto gradient = ops::Conv3DBackpropInputV2(scope, input_sizes, filter, out_backprop, strides, "SAME",
                                             ops::Conv3DBackpropInputV2::DataFormat("NDHWC"));
  std::vector<Tensor> outputs;
  ClientSession session(scope);
  TF_CHECK_OK(session.Run({gradient.output}, &outputs));
  auto values = outputs[0].flat<float>();
  CHECK_EQ(values.size(), 32);
  CHECK_EQ(values(0), 8840);
  CHECK_EQ(values(1), 20536);
  CHECK_EQ(values(2), 32232);
  CHECK_EQ(values(3), 43928);
  LOG(INFO) << outputs[0].DebugString();
  return 0;
}

// A program for the page of tensorflow::ops::Conv3DBackpropFilterV2, its scene's numbers, through compat/.
#include "tensorflow/cc/client/client_session.h"
#include "tensorflow/cc/ops/nn_ops.h"
#include "tensorflow/cc/ops/standard_ops.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/lib/core/status.h"

namespace tensorflow {
namespace {

Tensor Counted(const TensorShape& shape) {
  Tensor tensor(DT_FLOAT, shape);
  for (int i = 0; i < tensor.NumElements(); ++i) tensor.flat<float>()(i) = static_cast<float>(i + 1);
  return tensor;
}

Status FilterGradient(std::vector<Tensor>* outputs) {
  Scope scope = Scope::NewRootScope();
  StringPiece padding = "SAME";
  auto input = ops::Const(scope, Counted(TensorShape({2, 2, 2, 2, 2})));
  auto filter_sizes = ops::Const(scope, {2, 2, 2, 2, 2});
  auto out_backprop = ops::Const(scope, {2856.f, 2992.f, 6952.f, 7344.f}, {2, 1, 1, 1, 2});
  ops::Conv3DBackpropFilterV2::Attrs attrs;
  attrs.data_format_ = "NDHWC";
  ops::Conv3DBackpropFilterV2 gradient(scope, input, filter_sizes, out_backprop, {1, 4, 3, 2, 1}, padding, attrs);
  TF_RETURN_IF_ERROR(scope.status());
  ClientSession session(scope);
  return session.Run({gradient}, outputs);
}

}  // namespace
}  // namespace tensorflow

int main() {
  std::vector<tensorflow::Tensor> outputs;
  TF_CHECK_OK(tensorflow::FilterGradient(&outputs));
  CHECK_EQ(outputs.size(), 1u);
  CHECK_EQ(outputs[0].shape().DebugString(), "[2,2,2,2,2]");
  auto values = outputs[0].tensor<float, 5>();
  CHECK_EQ(values(0, 0, 0, 0, 0), 121040);
  CHECK_EQ(values(0, 0, 0, 0, 1), 127840);
  CHECK_EQ(values(0, 0, 0, 1, 0), 130848);
  CHECK_EQ(values(0, 0, 0, 1, 1), 138176);
  return 0;
}

// The first program of TensorFlow's C++ guide in its form: a matrix times a transposed row.
#include "tensorflow/cc/client/client_session.h"
#include "tensorflow/cc/ops/standard_ops.h"
#include "tensorflow/core/framework/tensor.h"

int main() {
  using namespace tensorflow;
  using namespace tensorflow::ops;
  Scope root = Scope::NewRootScope();
  auto a = Const(root, {{3.f, 2.f}, {-1.f, 0.f}});
  auto row = Const(root, {{3.f, 5.f}});
  auto v = MatMul(root.WithOpName("v"), a, row, MatMul::TransposeB(true));
  std::vector<Tensor> outputs;
  ClientSession session(root);
  TF_CHECK_OK(session.Run({v}, &outputs));
  LOG(INFO) << outputs[0].matrix<float>();
  CHECK_EQ(outputs[0].matrix<float>()(0, 0), 19);
  CHECK_EQ(outputs[0].matrix<float>()(1, 0), -3);
  CHECK_EQ(v.node()->name(), "v");
  return 0;
}

// 12. A program in TensorFlow's own words, its include lines and namespace too: fits a plane to points by gradient
// descent. It compiles because compat/ is in the include path, and runs without TensorFlow.
#include <iostream>
#include <vector>

#include "tensorflow/cc/client/client_session.h"
#include "tensorflow/cc/framework/gradients.h"
#include "tensorflow/cc/ops/standard_ops.h"
#include "tensorflow/core/framework/tensor.h"

int main() {
  using namespace tensorflow;
  using namespace tensorflow::ops;
  Scope root = Scope::NewRootScope();

  auto points = Const(root, {{0.f, 0.f, 1.f}, {1.f, 0.f, 1.f}, {0.f, 1.f, 1.f}, {1.f, 1.f, 1.f}});
  auto heights = Const(root, {{1.f}, {3.f}, {-2.f}, {0.f}});  // z = 2 x - 3 y + 1
  auto plane = Variable(root.WithOpName("plane"), {3, 1}, DT_FLOAT);
  auto start = Assign(root, plane, Input::Initializer(0.f, {3, 1}));
  auto error = Sub(root, MatMul(root, points, plane), heights);
  auto loss = Mean(root.WithOpName("loss"), Square(root, error), {0, 1});

  std::vector<Output> gradients;
  TF_CHECK_OK(AddSymbolicGradients(root, {loss}, {plane}, &gradients));
  auto step = ApplyGradientDescent(root, plane, 0.4f, gradients[0]);

  ClientSession session(root);
  std::vector<Tensor> outputs;
  TF_CHECK_OK(session.Run({start}, nullptr));
  for (int i = 0; i < 300; ++i) {
    TF_CHECK_OK(session.Run({loss, step}, &outputs));
    if (i % 100 == 0) std::cout << "loss " << outputs[0].scalar<float>()() << "\n";
  }
  TF_CHECK_OK(session.Run({plane, loss}, &outputs));
  std::cout << "plane\n" << outputs[0].matrix<float>() << "\n";

  auto found = outputs[0].flat<float>();
  auto near = [](float a, float b) { return a - b < 1e-3f && b - a < 1e-3f; };
  return near(found(0), 2) && near(found(1), -3) && near(found(2), 1) && outputs[1].scalar<float>()() < 1e-6f ? 0 : 1;
}

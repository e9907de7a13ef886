// A stranger's graph: TensorFlow's classes from the installed headers.
//   g++ -std=c++20 graph.cc $(pkg-config --cflags --libs convgrad)
#include <convgrad/graph.h>

#include <iostream>

int main() {
  using namespace convgrad::graph;
  const Scope root = Scope::NewRootScope();
  const auto x = ops::Const(root, 1.0f, {1, 3, 3, 1});
  const auto w = ops::Const(root, {{{{1.f}}, {{2.f}}}});  // [1, 2, 1, 1]
  const auto y = ops::Conv2D(root, x, w, {1, 1, 1, 1}, "VALID");
  std::vector<Output> gradients;
  std::vector<Tensor> outputs;
  Status status = AddSymbolicGradients(root, {y}, {w}, &gradients);
  if (status.ok()) status = ClientSession(root).Run({y, gradients[0]}, &outputs);
  if (!status.ok()) {
    std::cerr << status << "\n";
    return 1;
  }
  std::cout << outputs[1].DebugString() << "\n";
  try {  // must be catchable as convgrad::Error across the library's border
    (void)outputs[0].flat<double>();
    return 1;
  } catch (const convgrad::Error&) {
  }
  return outputs[0].flat<float>()(0) == 3 && outputs[1].flat<float>()(0) == 6 && outputs[1].flat<float>()(1) == 6 ? 0
                                                                                                                  : 1;
}

// 8. A graph in TensorFlow's classes: a 3-D convolution, and the gradient of its filter by Conv3DBackpropFilterV2.
#include <convgrad/graph.h>

#include <cstdio>

using namespace convgrad::graph;

// 1, 2, 3, ... in row-major order.
Tensor counted(const TensorShape& shape) {
  Tensor tensor(DT_FLOAT, shape);
  auto elements = tensor.flat<float>();
  for (int64 i = 0; i < elements.size(); ++i) elements(i) = static_cast<float>(i + 1);
  return tensor;
}

int main() {
  const Scope root = Scope::NewRootScope();
  const auto x = ops::Const(root.WithOpName("x"), counted({2, 2, 2, 2, 2}));  // batch, depth, height, width, channels
  const auto w = ops::Const(root.WithOpName("w"), counted({2, 2, 2, 2, 2}));  // depth, height, width, in, out
  const auto y = ops::Conv3D(root.WithOpName("y"), x, w, {1, 4, 3, 2, 1}, "SAME");
  const auto dw = ops::Conv3DBackpropFilterV2(root.WithOpName("dw"), x, {2, 2, 2, 2, 2}, y, {1, 4, 3, 2, 1}, "SAME",
                                              ops::Conv3DBackpropFilterV2::DataFormat("NDHWC"));

  const ClientSession session(root);
  std::vector<Tensor> outputs;
  const Status status = session.Run({y, dw}, &outputs);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  std::printf("y  %s\n", outputs[0].DebugString(4).c_str());
  std::printf("dw %s\n", outputs[1].DebugString(8).c_str());

  const auto first = outputs[1].tensor<float, 5>();
  const bool right = outputs[0].flat<float>()(0) == 2856 && first(0, 0, 0, 0, 0) == 121040 &&
                     first(0, 0, 0, 0, 1) == 127840 && first(0, 0, 0, 1, 0) == 130848;
  return right ? 0 : 1;
}

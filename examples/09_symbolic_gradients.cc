// 9. Gradients that the graph works out by itself, and gradients of those: TensorFlow's C++ API has none for Conv3D.
#include <convgrad/graph.h>

#include <cmath>
#include <cstdio>

using namespace convgrad::graph;

int main() {
  const Scope root = Scope::NewRootScope();
  Tensor volume(DT_DOUBLE, {1, 3, 3, 3, 1}), window(DT_DOUBLE, {2, 2, 2, 1, 1});
  volume.flat<double>().setRandom();
  window.flat<double>().setRandom();
  const auto x = ops::Const(root, volume);
  const auto w = ops::Placeholder(root, DT_DOUBLE, ops::Placeholder::Shape({2, 2, 2, 1, 1}));
  const auto y = ops::Conv3D(root, x, w, {1, 1, 1, 1, 1}, "SAME", ops::Conv3D::Dilations({1, 1, 2, 1, 1}));
  const auto loss = ops::L2Loss(root, y);  // half the sum of squares, quadratic in w

  std::vector<Output> dw, ddw;
  Status status = AddSymbolicGradients(root, {loss}, {w}, &dw);
  // The derivative of dw along v is H v with the loss's second derivatives H; with v = w it is dw itself.
  if (status.ok()) status = AddSymbolicGradients(root, {dw[0]}, {w}, {w}, &ddw);
  std::vector<Tensor> outputs;
  const ClientSession session(root);
  if (status.ok()) status = session.Run({{w, window}}, {loss, dw[0], ddw[0]}, &outputs);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  std::printf("loss  %s\n", outputs[0].SummarizeValue(1).c_str());
  std::printf("dw    %s\n", outputs[1].DebugString(8).c_str());
  std::printf("H w   %s\n", outputs[2].DebugString(8).c_str());

  // Euler: a quadratic form's gradient times its argument is twice its value.
  double product = 0, apart = 0;
  for (int64 i = 0; i < 8; ++i) {
    product += outputs[1].flat<double>()(i) * window.flat<double>()(i);
    apart = std::fmax(apart, std::abs(outputs[1].flat<double>()(i) - outputs[2].flat<double>()(i)));
  }
  const double off = std::abs(product - 2 * outputs[0].scalar<double>()());
  std::printf("w . dw - 2 loss = %.1e, H w - dw = %.1e\n", off, apart);
  return off < 1e-12 && apart < 1e-12 ? 0 : 1;
}

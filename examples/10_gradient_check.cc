// 10. Checks the gradients of a layer against differences: the largest error over all pairs of inputs and outputs.
#include <convgrad/graph.h>

#include <cstdio>

using namespace convgrad::graph;

// The error of a dilated and padded convolution with bias, by its three inputs; negative when the check itself failed.
template <class T>
double error_of_layer() {
  const Scope root = Scope::NewRootScope();
  const TensorShape image({2, 5, 6, 4}), window({3, 2, 2, 4}), channels({4});  // in two groups
  const DataType dtype = DataTypeToEnum<T>::v();
  const auto x = ops::Placeholder(root, dtype, ops::Placeholder::Shape(image));
  const auto w = ops::Placeholder(root, dtype, ops::Placeholder::Shape(window));
  const auto b = ops::Placeholder(root, dtype, ops::Placeholder::Shape(channels));
  const auto convolved = ops::Conv2D(root, x, w, {1, 2, 1, 1}, "EXPLICIT",
                                     ops::Conv2D::Dilations({1, 1, 2, 1}).ExplicitPaddings({0, 0, 2, 1, 0, 1, 0, 0}));
  const auto y = ops::BiasAdd(root, convolved, b);
  double worst = -1;
  const Status status = ComputeGradientError<T, T, double>(root, {x, w, b}, {image, window, channels}, {y},
                                                           {TensorShape({2, 3, 5, 4})}, &worst);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return worst;
}

int main() {
  const double single = error_of_layer<float>(), twice = error_of_layer<double>();
  std::printf("largest error: %.1e in float, %.1e in double\n", single, twice);
  const auto right = [](double error) { return error >= 0 && error < 1e-9; };
  return right(single) && right(twice) ? 0 : 1;
}

// 2. All three gradients of y = conv(x, w) + b in one call: dx, dw and db.
#include <convgrad/convgrad.h>

#include <cmath>
#include <cstdio>
#include <vector>

using namespace convgrad;

// The loss whose gradients we ask for: the inner product of y with a fixed dy.
double loss(const Tensor& x, const Tensor& w, const Tensor& dy, const ConvOptions& options) {
  const Tensor y = conv2d(x, w, options).value();
  double total = 0;
  for (std::int64_t i = 0; i < y.size(); ++i) total += y.at(i) * dy.at(i);
  return total;
}

// A tensor of doubles with some pattern in it.
Tensor pattern(Shape shape, double step) {
  Tensor tensor = Tensor::zeros(DType::f64, std::move(shape)).value();
  double at = 0;
  for (double& value : tensor.as<double>()) value = std::sin(at += step);
  return tensor;
}

// The gradient by nudging one element and looking at the loss.
double nudged(Tensor& tensor, std::int64_t at, const auto& loss_now) {
  constexpr double kStep = 1e-3;
  double& value = tensor.as<double>()[static_cast<std::size_t>(at)];
  value += kStep;
  const double above = loss_now();
  value -= 2 * kStep;
  const double below = loss_now();
  value += kStep;
  return (above - below) / (2 * kStep);
}

int main() {
  const ConvOptions options{.strides = {1, 2, 2, 1}, .padding = Padding::same()};
  Tensor x = pattern({2, 5, 5, 3}, 0.7), w = pattern({3, 3, 3, 4}, 1.3);
  const Tensor dy = pattern({2, 3, 3, 4}, 0.31);

  const ConvGradients gradients = conv_gradients(x, w, dy, options).value();
  std::printf("dx %s\n", gradients.input.to_text(3).c_str());
  std::printf("dw %s\n", gradients.filter.to_text(3).c_str());
  std::printf("db %s\n", gradients.bias.to_text(4).c_str());

  const auto loss_now = [&] { return loss(x, w, dy, options); };
  const double wrong_x = gradients.input.at(70) - nudged(x, 70, loss_now);
  const double wrong_w = gradients.filter.at(50) - nudged(w, 50, loss_now);
  std::printf("against finite differences: dx[70] off by %.1e, dw[50] off by %.1e\n", wrong_x, wrong_w);
  double db0 = 0;  // the bias gradient is the plain sum of dy over everything but its channel
  for (std::int64_t i = 0; i < dy.size(); i += 4) db0 += dy.at(i);
  return std::abs(wrong_x) < 1e-9 && std::abs(wrong_w) < 1e-9 && std::abs(gradients.bias.at(0) - db0) < 1e-12 ? 0 : 1;
}

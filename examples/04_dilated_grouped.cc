// 4. A dilated, grouped, channels-first gradient in bfloat16: every one of these is a thing that
//    TensorFlow's CPU kernels refuse, and here it is one call like any other.
#include <convgrad/convgrad.h>

#include <cmath>
#include <cstdio>
#include <string>

using namespace convgrad;

// Small numbers that bfloat16 holds exactly.
Tensor pattern(DType dtype, Shape shape, int step) {
  Tensor tensor = Tensor::zeros(dtype, std::move(shape)).value();
  int at = 0;
  const auto next = [&] { return float((at += step) % 9 - 4); };
  for (BFloat16& value : tensor.as<BFloat16>()) value = BFloat16::from(next());
  for (float& value : tensor.as<float>()) value = next();
  return tensor;
}

Result<Tensor> gradient(DType dtype) {
  const Tensor x = pattern(dtype, {2, 6, 9, 9}, 5);   // [batch, channels, height, width]
  const Tensor dy = pattern(dtype, {2, 4, 5, 5}, 7);  // 4 output channels
  // The filter sees 3 of the 6 channels: two groups. Dilation 2 makes a 3 x 3 filter reach over 5 x 5.
  const Shape filter_sizes{3, 3, 3, 4};
  return conv2d_backprop_filter(x, filter_sizes, dy,
                                {.padding = Padding::valid(), .dilations = {1, 1, 2, 2}, .data_format = "NCHW"});
}

int main() {
  const Result<Tensor> narrow = gradient(DType::bf16);
  if (!narrow.ok()) {
    std::printf("%s\n", narrow.status().message().c_str());
    return 1;
  }
  std::printf("dw %s\n", narrow->to_text(6).c_str());
  const Tensor wide = gradient(DType::f32).value();
  std::printf("in float32 %s\n", wide.to_text(6).c_str());

  // Sums are kept in wide precision and rounded once: each value is the float32 one in bfloat16.
  for (std::int64_t i = 0; i < wide.size(); ++i) {
    if (narrow->at(i) != static_cast<double>(BFloat16::from(wide.at(i)))) return 1;
  }
  return narrow->size() == 3 * 3 * 3 * 4 ? 0 : 1;
}

// 1. The filter gradient of a 3-D convolution, with the numbers of the original block's documentation.
#include <convgrad/convgrad.h>

#include <cstdio>
#include <string>
#include <vector>

using namespace convgrad;

std::string text(const Shape& shape) {
  std::string all;
  for (std::int64_t size : shape) all += (all.empty() ? "[" : ", ") + std::to_string(size);
  return all + "]";
}

// A filter is [depth, height, width, in, out]: a small in x out matrix for each of its taps.
void print_taps(const Tensor& filter) {
  const Shape& s = filter.shape();
  std::int64_t at = 0;
  for (std::int64_t d = 0; d < s[0]; ++d)
    for (std::int64_t h = 0; h < s[1]; ++h)
      for (std::int64_t w = 0; w < s[2]; ++w) {
        std::printf("  tap depth %ld, height %ld, width %ld\n", long(d), long(h), long(w));
        for (std::int64_t in = 0; in < s[3]; ++in) {
          std::printf("    in %ld:", long(in));
          for (std::int64_t out = 0; out < s[4]; ++out) std::printf(" %9.0f", filter.at(at++));
          std::printf("\n");
        }
      }
}

double sum(const Tensor& tensor) {
  double total = 0;
  for (std::int64_t i = 0; i < tensor.size(); ++i) total += tensor.at(i);
  return total;
}

int main() {
  std::vector<float> values(32);
  for (int i = 0; i < 32; ++i) values[i] = float(i + 1);
  const Tensor x = Tensor::from<float>({2, 2, 2, 2, 2}, values).value();  // [batch, depth, height, width, channels]
  const Tensor f = x;
  const ConvOptions options{.strides = {1, 4, 3, 2, 1}, .padding = Padding::same()};

  const Tensor y = conv3d(x, f, options).value();
  std::printf("y = conv3d(x, f), x and f both 1..32 in %s, strides 1,4,3,2,1, SAME\n", text(x.shape()).c_str());
  std::printf("y is %s: %.0f %.0f %.0f %.0f\n\n", text(y.shape()).c_str(), y.at(0), y.at(1), y.at(2), y.at(3));

  // y stands in for the gradient that arrives from above.
  const Tensor df = conv3d_backprop_filter_v2(x, f.shape(), y, options).value();
  std::printf("df = conv3d_backprop_filter_v2(x, filter_sizes, y) is %s:\n", text(df.shape()).c_str());
  std::printf("how the loss changes with each weight of f, one in x out matrix a tap\n");
  print_taps(df);

  const bool right = sum(y) == 20144 && df.at(0) == 121040 && df.at(31) == 282880 && sum(df) == 6399360;
  std::printf("\nsum %.0f: %s\n", sum(df), right ? "the known numbers" : "NOT the known numbers");
  return right ? 0 : 1;
}

// A stranger's C++ program: one filter gradient through the installed headers and library.
//   g++ -std=c++20 main.cc $(pkg-config --cflags --libs convgrad)
#include <convgrad/convgrad.h>

#include <cstdio>
#include <vector>

int main() {
  using namespace convgrad;
  const Tensor x = Tensor::from<float>({1, 2, 2, 1}, std::vector<float>{1, 2, 3, 4}).value();
  const Tensor dy = Tensor::from<float>({1, 1, 1, 1}, std::vector<float>{10}).value();
  const Result<Tensor> dw = conv2d_backprop_filter(x, Shape{2, 2, 1, 1}, dy, {.padding = Padding::valid()});
  if (!dw.ok()) {
    std::fprintf(stderr, "%s\n", dw.status().message().c_str());
    return 1;
  }
  std::printf("%s\n", dw->to_text().c_str());
  // A refusal must be catchable as convgrad::Error across the library's border.
  try {
    (void)conv2d_backprop_filter(x, Shape{2, 2, 1, 1}, dy, {}).value();
    return 1;
  } catch (const Error& error) {
    if (error.status().argument() != "padding") return 1;
  }
  return dw->at(0) == 10 && dw->at(1) == 20 && dw->at(2) == 30 && dw->at(3) == 40 ? 0 : 1;
}

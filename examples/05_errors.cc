// 5. Mistakes on purpose, and what comes back: a code, a sentence, and its parts.
#include <convgrad/convgrad.h>

#include <cstdio>
#include <string_view>
#include <vector>

using namespace convgrad;

// Prints a refusal; answers whether it broke the rule that we expect.
bool refused(const char* mistake, const Status& status, std::string_view rule) {
  std::printf("%s\n  code     %s\n  message  %s\n  argument %s, got %s, wanted %s\n  rule     %s\n\n", mistake,
              name(status.code()), status.message().c_str(), status.argument().c_str(), status.got().c_str(),
              status.wanted().c_str(), status.rule().c_str());
  return !status.ok() && status.rule() == rule;
}

int main() {
  const Tensor x = Tensor::zeros(DType::f32, {1, 4, 4, 1}).value();
  const Tensor dy = Tensor::zeros(DType::f32, {1, 4, 4, 1}).value();
  const Shape sizes{3, 3, 1, 1};
  bool right = true;

  // The door without exceptions: look at ok(), read status().
  right &= refused("a stride of 0",
                   conv2d_backprop_filter(x, sizes, dy, {.strides = {1, 0, 1, 1}, .padding = Padding::same()}).status(),
                   "stride-range");
  right &= refused("no padding at all", conv2d_backprop_filter(x, sizes, dy, {}).status(), "padding-name");
  right &= refused("a gradient of the wrong size",
                   conv2d_backprop_filter(x, sizes, dy, {.padding = Padding::valid()}).status(), "out-shape-mismatch");
  right &= refused("five channels for a filter that sees two",
                   make_plan(parse_problem("n1c5h4w4_k4r3s3_same_fc2_forward").value()).status(), "group-divisibility");
  right &= refused("a typing mistake", parse_problem("n1c1h4w4_k1r3s3_sme_filter_grad").status(), "problem-string");
  right &= refused("four petabytes",
                   validate(parse_problem("n1c1h33554432w33554432_k1r1s1_same_forward").value()).status(), "resource");

  // The door with exceptions: value() throws convgrad::Error, and nothing else ever throws.
  try {
    conv2d_backprop_filter(x, sizes, dy, {}).value();
    right = false;
  } catch (const Error& error) {
    std::printf("caught: %s\n", error.what());
  }
  return right ? 0 : 1;
}

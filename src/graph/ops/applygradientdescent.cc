#include "graph/ops/apply.h"

namespace convgrad::graph {
namespace {

// var -= alpha * delta.
Result<std::vector<Tensor>> run(const NodeRun& run) {
  return apply<1>(run, [](const auto& numbers) {
    return [alpha = numbers[0]](auto& state, auto delta) { state[0] -= alpha * delta; };
  });
}

}  // namespace

OpRow ApplyGradientDescent_row() {
  return apply_row(
      "ApplyGradientDescent", "var -= alpha * delta.",
      {variable_pin("var", "The variable."), {"alpha", "T", "Length of the step."}, {"delta", "T", "The gradient."}},
      run);
}

}  // namespace convgrad::graph

#include "graph/ops/apply.h"

namespace convgrad::graph {
namespace {

// step = lr * sqrt(1 - beta2_power) / (1 - beta1_power)
// m += (1 - beta1) * (grad - m), v += (1 - beta2) * (grad^2 - v)
// var -= step * m / (sqrt(v) + epsilon); with use_nesterov m * beta1 + (1 - beta1) * grad instead of m.
Result<std::vector<Tensor>> run(const NodeRun& run) {
  const bool nesterov = run.node.flag("use_nesterov");
  return apply<3>(run, [&](const auto& numbers) {
    const auto beta1_power = numbers[0], beta2_power = numbers[1], lr = numbers[2];
    const auto step = lr * std::sqrt(1 - beta2_power) / (1 - beta1_power);
    return [nesterov, step, beta1 = numbers[3], beta2 = numbers[4], epsilon = numbers[5]](auto& state, auto grad) {
      auto& [var, m, v] = state;
      m += (1 - beta1) * (grad - m);
      v += (1 - beta2) * (grad * grad - v);
      var -= step * (nesterov ? m * beta1 + (1 - beta1) * grad : m) / (std::sqrt(v) + epsilon);
    };
  });
}

}  // namespace

OpRow ApplyAdam_row() {
  return apply_row("ApplyAdam", "Adam: steps by the mean of the gradient over the root of the mean of its square.",
                   {variable_pin("var", "The variable."),
                    variable_pin("m", "Mean of the gradient."),
                    variable_pin("v", "Mean of its square."),
                    {"beta1_power", "T", "beta1 to the number of this step."},
                    {"beta2_power", "T", "beta2 to the number of this step."},
                    {"lr", "T", "Length of the step."},
                    {"beta1", "T", "How much of m stays."},
                    {"beta2", "T", "How much of v stays."},
                    {"epsilon", "T", "Keeps the division from zero."},
                    {"grad", "T", "The gradient."}},
                   run, {flag("use_nesterov", "Steps by where the mean will lead.", false)});
}

}  // namespace convgrad::graph

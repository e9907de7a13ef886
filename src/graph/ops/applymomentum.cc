#include "graph/ops/apply.h"

namespace convgrad::graph {
namespace {

// accum = accum * momentum + grad, then var -= lr * accum; with use_nesterov var -= lr * (grad + momentum * accum).
Result<std::vector<Tensor>> run(const NodeRun& run) {
  const bool nesterov = run.node.flag("use_nesterov");
  return apply<2>(run, [&](const auto& numbers) {
    return [nesterov, lr = numbers[0], momentum = numbers[1]](auto& state, auto grad) {
      auto& [var, accum] = state;
      accum = accum * momentum + grad;
      var -= nesterov ? grad * lr + accum * momentum * lr : accum * lr;
    };
  });
}

}  // namespace

OpRow ApplyMomentum_row() {
  return apply_row("ApplyMomentum", "accum = accum * momentum + grad; var -= lr * accum.",
                   {variable_pin("var", "The variable."),
                    variable_pin("accum", "Its momentum so far."),
                    {"lr", "T", "Length of the step."},
                    {"grad", "T", "The gradient."},
                    {"momentum", "T", "How much of the momentum stays."}},
                   run, {flag("use_nesterov", "Steps by where the momentum will lead.", false)});
}

}  // namespace convgrad::graph

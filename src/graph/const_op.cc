// Constants made by callers, and by literals that stand where an input is wanted.
#include "convgrad/graph/const_op.h"

#include "base/rules.h"
#include "graph/convert.h"

namespace convgrad::graph::ops {
namespace {

bool usable(const Scope& scope, const Input::Initializer& value) {
  if (!scope.ok()) return false;
  scope.UpdateStatus(value.status);
  if (scope.ok()) scope.UpdateStatus(value.tensor.check_memory());
  return scope.ok();
}

}  // namespace

Output Const(const Scope& scope, const Input::Initializer& value) {
  if (!usable(scope, value)) return Output(nullptr, 0);
  Tensor copy = value.tensor.deep_copy();
  const DataType dtype = copy.dtype();
  return Output(scope.add("Const", {}, {{"value", std::move(copy)}, {"dtype", dtype}}), 0);
}

Output ConstOf(const Scope& scope, const Input::Initializer& value, DataType dtype) {
  if (!usable(scope, value)) return Output(nullptr, 0);
  const Result<Tensor> converted = convert(value.tensor, dtype);
  if (converted.ok()) return Const(scope, *converted);
  scope.UpdateStatus(converted.status());
  return Output(nullptr, 0);
}

Output AsOutput(const Scope& scope, const Input& input) {
  scope.UpdateStatus(input.status());
  if (!scope.ok()) return Output(nullptr, 0);
  if (input.node() != nullptr) return input.output();
  if (!input.is_constant()) {  // an Output of nothing: what NoGradient() is and a failed op leaves
    scope.UpdateStatus(convgrad::refuse("Input", {.rule = Rule::graph_input,
                                                  .argument = "inputs",
                                                  .reason = "an input is no output of a node",
                                                  .got = "nothing",
                                                  .wanted = "an output of a node, or a value"}));
    return Output(nullptr, 0);
  }
  return Const(scope.NewSubScope("Const"), input.tensor());
}

}  // namespace convgrad::graph::ops

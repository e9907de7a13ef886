// Constants made by callers, and by literals that stand where an input is wanted.
#include "convgrad/graph/const_op.h"

#include "graph/convert.h"

namespace convgrad::graph::ops {

Output Const(const Scope& scope, const Input::Initializer& value) {
  if (!scope.ok()) return Output(nullptr, 0);
  scope.UpdateStatus(value.status);
  if (!scope.ok()) return Output(nullptr, 0);
  if (!value.tensor.IsInitialized()) {
    scope.UpdateStatus(Status(Code::kResourceExhausted, "Const: the tensor has no memory"));
    return Output(nullptr, 0);
  }
  Tensor copy = value.tensor.deep_copy();
  const DataType dtype = copy.dtype();
  return Output(scope.add("Const", {}, {{"value", std::move(copy)}, {"dtype", dtype}}), 0);
}

Output ConstOf(const Scope& scope, const Input::Initializer& value, DataType dtype) {
  if (!value.status.ok()) return Const(scope, value);
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
    scope.UpdateStatus(Status(Code::kInvalidArgument, "an input is no output of a node"));
    return Output(nullptr, 0);
  }
  return Const(scope.NewSubScope("Const"), input.tensor());
}

}  // namespace convgrad::graph::ops

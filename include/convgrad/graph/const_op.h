// Const: the one op that is a function.
#ifndef CONVGRAD_GRAPH_CONST_OP_H_
#define CONVGRAD_GRAPH_CONST_OP_H_

#include "convgrad/graph/scope.h"

namespace convgrad::graph::ops {

// A constant of the literal's type. Its elements are copied: later writes to the tensor do not reach the graph.
CONVGRAD_API Output Const(const Scope& scope, const Input::Initializer& value);
// Converted to a type.
CONVGRAD_API Output ConstOf(const Scope& scope, const Input::Initializer& value, DataType dtype);

template <class T>
Output Const(const Scope& scope, const Input::Initializer& value) {
  return ConstOf(scope, value, data_type_for<T>());
}
template <class T>
Output Const(const Scope& scope, const T& value, const TensorShape shape) {
  return Const(scope, Input::Initializer(value, shape));
}
template <class T>
Output Const(const Scope& scope, const std::initializer_list<T>& values, const TensorShape shape) {
  return Const(scope, Input::Initializer(values, shape));
}

// An input as a node: itself, or a constant in a sub-scope "Const". A null output when the scope is bad.
CONVGRAD_API Output AsOutput(const Scope& scope, const Input& input);

}  // namespace convgrad::graph::ops

#endif  // CONVGRAD_GRAPH_CONST_OP_H_

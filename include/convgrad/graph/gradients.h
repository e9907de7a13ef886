// Symbolic gradients, and their check against differences.
#ifndef CONVGRAD_GRAPH_GRADIENTS_H_
#define CONVGRAD_GRAPH_GRADIENTS_H_

#include <vector>

#include "convgrad/graph/scope.h"

namespace convgrad::graph {

// Adds the nodes of d(sum of grad_inputs * outputs) / d inputs to the scope's graph.
CONVGRAD_API Status AddSymbolicGradients(const Scope& scope, const std::vector<Output>& outputs,
                                         const std::vector<Output>& inputs, const std::vector<Output>& grad_inputs,
                                         std::vector<Output>* grad_outputs);
// With grad_inputs of ones.
CONVGRAD_API Status AddSymbolicGradients(const Scope& scope, const std::vector<Output>& outputs,
                                         const std::vector<Output>& inputs, std::vector<Output>* grad_outputs);

// What stands for a gradient that does not exist.
inline Output NoGradient() { return Output(nullptr, -1); }

// The largest |symbolic - numeric| entry over the Jacobians of all pairs (x, y). The symbolic side runs in the graph's
// own types; the numeric side, centred differences, in a copy of the graph in double. xs are fed, so they may be
// placeholders; y_shapes are those of ys.
CONVGRAD_API Status gradient_error(const Scope& scope, const OutputList& xs, const std::vector<Tensor>& x_values,
                                   const OutputList& ys, const std::vector<TensorShape>& y_shapes, double* max_error);

// The same with what the error is to be measured by.
struct GradientCheck {
  double max_error = 0;
  double largest = 0;    // |entry| of the Jacobians
  double tolerance = 0;  // max(1, largest) * (1e-6 + 4 u sqrt(length)): u of the least precise of xs and ys, length the
                         // elements of the largest of them, and 1e-6 for the differences
  bool passed() const { return max_error <= tolerance; }
};
CONVGRAD_API Result<GradientCheck> check_gradients(const Scope& scope, const OutputList& xs,
                                                   const std::vector<Tensor>& x_values, const OutputList& ys,
                                                   const std::vector<TensorShape>& y_shapes);

// Random values for xs of these shapes.
CONVGRAD_API Result<std::vector<Tensor>> random_values(const OutputList& xs, const std::vector<TensorShape>& shapes);

// X_T, Y_T and JAC_T are the element types of xs, ys and the Jacobian, as in TensorFlow; its first versions had one.
template <class X_T, class Y_T = X_T, class JAC_T = Y_T>
Status ComputeGradientError(const Scope& scope, const OutputList& xs, const std::vector<TensorShape>& x_shapes,
                            const OutputList& ys, const std::vector<TensorShape>& y_shapes, JAC_T* max_error) {
  Result<std::vector<Tensor>> values = random_values(xs, x_shapes);
  if (!values.ok()) return values.status();
  double error = 0;
  Status status = gradient_error(scope, xs, *values, ys, y_shapes, &error);
  if (status.ok() && max_error != nullptr) *max_error = static_cast<JAC_T>(error);
  return status;
}
template <class X_T, class Y_T = X_T, class JAC_T = Y_T>
Status ComputeGradientError(const Scope& scope, const Output& x, const Tensor& x_init_value, const Output& y,
                            const TensorShape& y_shape, JAC_T* max_error) {
  double error = 0;
  Status status = gradient_error(scope, {x}, {x_init_value}, {y}, {y_shape}, &error);
  if (status.ok() && max_error != nullptr) *max_error = static_cast<JAC_T>(error);
  return status;
}

}  // namespace convgrad::graph

#endif  // CONVGRAD_GRAPH_GRADIENTS_H_

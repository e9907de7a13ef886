// Symbolic gradients of first and second order against differences, in float and double, with shapes known and not
// known while the graph is built.
#pragma once

#include <functional>
#include <random>
#include <set>

#include "convgrad/graph/gradients.h"
#include "one_op.h"

namespace convgrad::graph::test {

class Random {
 public:
  explicit Random(unsigned seed) : bits_(seed) {}
  int64 from(int64 low, int64 high) {
    return low + static_cast<int64>(bits_() % static_cast<unsigned>(high - low + 1));
  }
  Shape shape(int64 rank, int64 most = 3) {
    Shape made;
    for (int64 d = 0; d < rank; ++d) made.push_back(from(1, most));
    return made;
  }

 private:
  std::mt19937 bits_;
};

// An expression over inputs of some shapes.
struct Expression {
  std::vector<Shape> shapes;
  std::function<std::vector<Output>(const Scope&, const std::vector<Output>&)> build;
};

// One op with these inputs, some of them the expression's.
inline Expression of_op(string op, std::vector<Shape> shapes, AttrMap attrs = {}, std::vector<Input> more = {}) {
  return {std::move(shapes), [=](const Scope& scope, const std::vector<Output>& xs) {
            std::vector<Input> inputs(xs.begin(), xs.end());
            inputs.insert(inputs.end(), more.begin(), more.end());
            return outputs_of(scope.add(op, inputs, attrs));
          }};
}

inline std::vector<Output> placeholders(const Scope& scope, const std::vector<Shape>& shapes, DataType dtype,
                                        bool known) {
  std::vector<Output> made;
  for (const Shape& shape : shapes) {
    AttrMap attrs = {{"dtype", dtype}};
    if (known) attrs.emplace("shape", PartialTensorShape(shape));
    made.emplace_back(scope.add("Placeholder", {}, attrs), 0);
  }
  return made;
}

inline bool depends(const Output& y, const Output& x) {
  std::set<const Node*> seen;
  std::vector<const Node*> open = {y.node()};
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (node == x.node()) return true;
    if (!seen.insert(node).second) continue;
    for (const Wire& wire : node->inputs()) open.push_back(wire.node);
  }
  return false;
}

// Differences in steps of 1e-4 are exact to about 1e-8 times the third derivative; float adds its own rounding to sums
// of a few dozen terms around 1.
inline double allowed(DataType dtype) { return dtype == DT_FLOAT ? 2e-5 : 1e-6; }

// d ys / d xs, of those xs that some of ys depends on.
inline void expect_gradients(const Scope& scope, const std::vector<Output>& xs, const std::vector<Shape>& x_shapes,
                             const std::vector<Output>& ys, const std::vector<Shape>& y_shapes) {
  const std::vector<Tensor> values = random_values(xs, {x_shapes.begin(), x_shapes.end()}).value();
  for (std::size_t y = 0; y < ys.size(); ++y) {
    OutputList used;
    std::vector<Tensor> fed;
    for (std::size_t x = 0; x < xs.size(); ++x) {
      if (!depends(ys[y], xs[x])) continue;
      used.push_back(xs[x]);
      fed.push_back(values[x]);
    }
    if (used.empty()) continue;
    double error = std::numeric_limits<double>::infinity();
    const Status status = gradient_error(scope, used, fed, {ys[y]}, {TensorShape(y_shapes[y])}, &error);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_LT(error, allowed(xs[0].type())) << "output " << y;
  }
}

struct Built {
  Scope scope = Scope::NewRootScope();
  std::vector<Output> xs, ys;

  Built(const Expression& expression, DataType dtype, bool known) {
    xs = placeholders(scope, expression.shapes, dtype, known);
    ys = expression.build(scope, xs);
  }
};

inline std::vector<Shape> shapes_of(const std::vector<Output>& ys) {
  std::vector<Shape> shapes;
  for (const Output& y : ys) {
    const PartialTensorShape& shape = y.node()->outputs()[static_cast<std::size_t>(y.index())].shape;
    EXPECT_TRUE(shape.IsFullyDefined()) << y.name() << " " << shape.DebugString();
    shapes.push_back(shape.IsFullyDefined() ? shape.sizes() : Shape{});
  }
  return shapes;
}

// Of the gradients themselves, as functions of xs and of the gradient that comes in.
inline void expect_second(Built& built, const Expression& expression, const std::vector<Shape>& y_shapes, bool known) {
  const std::vector<Output> dys = placeholders(built.scope, y_shapes, built.xs[0].type(), known);
  std::vector<Output> dxs;
  const Status status = AddSymbolicGradients(built.scope, built.ys, built.xs, dys, &dxs);
  ASSERT_TRUE(status.ok()) << status;
  std::vector<Output> arguments = built.xs, results;
  std::vector<Shape> argument_shapes = expression.shapes, result_shapes;
  arguments.insert(arguments.end(), dys.begin(), dys.end());
  argument_shapes.insert(argument_shapes.end(), y_shapes.begin(), y_shapes.end());
  for (std::size_t x = 0; x < dxs.size(); ++x) {
    if (dxs[x].node() == nullptr) continue;
    results.push_back(dxs[x]);
    result_shapes.push_back(expression.shapes[x]);
  }
  EXPECT_FALSE(results.empty());
  expect_gradients(built.scope, arguments, argument_shapes, results, result_shapes);
}

inline void expect_derivatives(const Expression& expression) {
  Built shaped(expression, DT_DOUBLE, true);
  ASSERT_TRUE(shaped.scope.ok()) << shaped.scope.status();
  const std::vector<Shape> y_shapes = shapes_of(shaped.ys);
  for (DataType dtype : {DT_DOUBLE, DT_FLOAT}) {
    for (bool known : {true, false}) {
      SCOPED_TRACE(DataTypeString(dtype) + (known ? ", shapes known" : ", shapes not known"));
      Built built(expression, dtype, known);
      ASSERT_TRUE(built.scope.ok()) << built.scope.status();
      expect_gradients(built.scope, built.xs, expression.shapes, built.ys, y_shapes);
      expect_second(built, expression, y_shapes, known);
    }
  }
}

// A few rounds of expressions that `make` gives for random numbers.
inline void expect_rounds(int rounds, const std::function<Expression(Random&)>& make) {
  Random random(5);
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    expect_derivatives(make(random));
  }
}

}  // namespace convgrad::graph::test

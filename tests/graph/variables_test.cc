// Variables: assigned, read, and changed by gradients, in the order in which the nodes were made.
#include "convgrad/graph/ops.h"
#include "one_op.h"

namespace convgrad::graph {
namespace {

using test::expect_near;
using test::tensor;

struct Bench {
  Scope scope = Scope::NewRootScope();

  Output variable(const PartialTensorShape& shape, DataType dtype = DT_DOUBLE, const char* name = "v") {
    return ops::Variable(scope.WithOpName(name), shape, dtype);
  }
  Tensor run(const ClientSession& session, const Output& fetch) {
    std::vector<Tensor> outputs;
    const Status status = session.Run({fetch}, &outputs);
    EXPECT_TRUE(status.ok()) << status;
    return outputs.empty() ? Tensor() : outputs[0];
  }
};

void expect_refused(const Status& status, const char* argument, const char* text) {
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.core().argument(), argument) << status;
  EXPECT_NE(status.message().find(text), string::npos) << status;
}

TEST(Variables, keep_their_value_from_run_to_run) {
  for (DataType dtype : find_graph_op("Variable")->attr("dtype")->types) {
    Bench b;
    const Output v = b.variable({2}, dtype);
    const Output set = ops::Assign(b.scope, v, tensor({2}, {1, 2}, dtype));
    const ClientSession session(b.scope), other(b.scope);
    expect_near(b.run(session, set), {1, 2});
    expect_near(b.run(session, v), {1, 2});
    std::vector<Tensor> outputs;
    expect_refused(other.Run({v}, &outputs), "v", "Attempting to use uninitialized value v");
  }
}

TEST(Variables, own_what_they_are_assigned) {
  Bench b;
  const Output v = b.variable({2}), fed = ops::Placeholder(b.scope, DT_DOUBLE);
  const Output set = ops::Assign(b.scope, v, fed);
  const ClientSession session(b.scope);
  Tensor mine = tensor({2}, {1, 2});
  std::vector<Tensor> outputs;
  ASSERT_TRUE(session.Run({{fed, mine}}, {set}, &outputs).ok());
  static_cast<double*>(mine.data())[0] = 77;
  static_cast<double*>(outputs[0].data())[1] = 88;
  Tensor read = b.run(session, v);
  expect_near(read, {1, 2});
  static_cast<double*>(read.data())[0] = 99;
  expect_near(b.run(session, v), {1, 2});
}

TEST(Variables, refuse_other_shapes) {
  Bench b;
  const Output v = b.variable({2, -1});
  const Output fed = ops::Placeholder(b.scope, DT_DOUBLE);
  const Output set = ops::Assign(b.scope, v, fed);
  const Output any = ops::Assign(b.scope, v, fed, ops::Assign::ValidateShape(false));
  const Output down = ops::ApplyGradientDescent(b.scope, v, tensor({}, {1}), fed);
  const ClientSession session(b.scope);
  std::vector<Tensor> outputs;
  const auto run = [&](const Output& fetch, const Shape& shape) {
    return session.Run({{fed, Tensor(DT_DOUBLE, TensorShape(shape))}}, {fetch}, &outputs);
  };
  expect_refused(run(set, {3, 2}), "value", "Assign requires shapes of both tensors to match. lhs shape= [2,?]");
  expect_refused(run(down, {2, 2}), "v", "uninitialized value v");
  EXPECT_TRUE(run(set, {2, 5}).ok());
  expect_refused(run(down, {3, 5}), "delta", "inputs must have one shape");
  expect_refused(run(down, {2, 4}), "delta", "inputs must have one shape");  // the shape that it has now
  EXPECT_TRUE(run(any, {7}).ok());
  EXPECT_EQ(b.run(session, v).shape(), TensorShape({7}));

  const Scope scope = Scope::NewRootScope();
  const Output w = ops::Variable(scope, TensorShape{2}, DT_DOUBLE);
  ops::Assign(scope, w, tensor({3}, {1, 2, 3}));
  expect_refused(scope.status(), "value", "lhs shape= [2] rhs shape= [3]");
}

TEST(Variables, are_all_that_ops_write_to) {
  const Scope scope = Scope::NewRootScope();
  ops::Assign(scope, tensor({1}, {1}), tensor({1}, {1}));
  expect_refused(scope.status(), "ref", "input 'ref' must be a variable");
  const Scope other = Scope::NewRootScope();
  const Output v = ops::Variable(other, TensorShape{1}, DT_DOUBLE);
  ops::ApplyMomentum(other, v, tensor({1}, {1}), tensor({}, {1}), tensor({1}, {1}), tensor({}, {1}));
  expect_refused(other.status(), "accum", "must be a variable");
  const Scope third = Scope::NewRootScope();
  const Output w = ops::Variable(third, TensorShape{1}, DT_DOUBLE);
  ops::ApplyGradientDescent(third, w, tensor({1}, {1}), tensor({1}, {1}));
  expect_refused(third.status(), "alpha", "alpha is not a scalar: [1]");
}

// Read, add, read: one run sees the old value, then the new one, by the order in which the nodes were made.
TEST(Variables, are_read_and_written_in_the_order_of_the_nodes) {
  Bench b;
  const Output v = b.variable(TensorShape{});
  const Output set = ops::Assign(b.scope, v, tensor({}, {10}));
  const Output before = ops::Identity(b.scope, v);
  const Output down = ops::ApplyGradientDescent(b.scope, v, tensor({}, {1}), tensor({}, {3}));
  const Output after = ops::Identity(b.scope, v);
  const Output again = ops::ApplyGradientDescent(b.scope, v, tensor({}, {1}), tensor({}, {3}));
  for (int threads : {1, 2, 4}) {
    SessionOptions options;
    options.policy.threads = threads;
    const ClientSession session(b.scope, options);
    std::vector<Tensor> outputs;
    ASSERT_TRUE(session.Run({after, again, before, down, set, v}, &outputs).ok());
    const double wanted[] = {7, 4, 10, 7, 10, 4};
    for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(outputs[i].at(0), wanted[i]) << i;
    ASSERT_TRUE(session.Run({before, after}, &outputs).ok());  // without the step between them
    EXPECT_EQ(outputs[0].at(0), 4);
    EXPECT_EQ(outputs[1].at(0), 4);
  }
}

// ---- Optimisers, five steps each, against their formulas ----

const std::vector<double> kStart = {1, -2, 0.5};

// The gradient of step number `step`.
std::vector<double> gradient_at(int step) { return {0.5 * step, -0.25, 1.0 / step}; }

// Runs five steps of `add(b, var, slots..., grad, step)` and gives var after each.
struct Training {
  Bench b;
  DataType dtype;
  Output var, m, v, grad;
  std::vector<Operation> init;

  explicit Training(DataType type) : dtype(type) {
    var = slot("var", kStart), m = slot("m", {0, 0, 0}), v = slot("slot_v", {0, 0, 0});
    grad = ops::Placeholder(b.scope, dtype);
  }
  Output slot(const char* name, const std::vector<double>& start) {
    const Output made = b.variable({3}, dtype, name);
    init.push_back(ops::Assign(b.scope, made, tensor({3}, start, dtype)).operation);
    return made;
  }
  Tensor number(double value) const { return tensor({}, {value}, dtype); }
};

TEST(ApplyGradientDescent, follows_its_formula) {
  for (DataType dtype : find_graph_op("ApplyGradientDescent")->attr("T")->types) {
    Training t(dtype);
    const Output step = ops::ApplyGradientDescent(t.b.scope, t.var, t.number(0.5), t.grad);
    const ClientSession session(t.b.scope);
    ASSERT_TRUE(session.Run({}, {}, t.init, nullptr).ok());
    std::vector<Tensor> outputs;
    ASSERT_TRUE(session.Run({{t.grad, tensor({3}, {2, -4, 1}, dtype)}}, {step}, &outputs).ok());
    expect_near(outputs[0], {0, 0, 0});
    expect_near(t.b.run(session, t.var), {0, 0, 0});
  }
}

// Each step is one rounding of each variable: five of them, and those of the operations inside.
constexpr double kSteps = 30;

TEST(ApplyMomentum, follows_its_formula) {
  for (DataType dtype : {DT_FLOAT, DT_DOUBLE}) {
    for (bool nesterov : {false, true}) {
      Training t(dtype);
      const Output step = ops::ApplyMomentum(t.b.scope, t.var, t.m, t.number(0.125), t.grad, t.number(0.75),
                                             ops::ApplyMomentum::UseNesterov(nesterov));
      const ClientSession session(t.b.scope);
      ASSERT_TRUE(session.Run({}, {}, t.init, nullptr).ok());
      std::vector<double> var = kStart, accum(3, 0);
      for (int i = 1; i <= 5; ++i) {
        const std::vector<double> grad = gradient_at(i);
        for (std::size_t e = 0; e < 3; ++e) {
          accum[e] = accum[e] * 0.75 + grad[e];
          var[e] -= 0.125 * (nesterov ? grad[e] + 0.75 * accum[e] : accum[e]);
        }
        std::vector<Tensor> outputs;
        ASSERT_TRUE(session.Run({{t.grad, tensor({3}, grad, dtype)}}, {step}, &outputs).ok());
        expect_near(outputs[0], var, kSteps);
        expect_near(t.b.run(session, t.m), accum, kSteps);
      }
      expect_near(t.b.run(session, t.var), var, kSteps);
    }
  }
}

TEST(ApplyAdam, follows_its_formula) {
  constexpr double lr = 0.01, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  for (bool nesterov : {false, true}) {
    Training t(DT_DOUBLE);
    const Output power1 = ops::Placeholder(t.b.scope, DT_DOUBLE), power2 = ops::Placeholder(t.b.scope, DT_DOUBLE);
    const Output step =
        ops::ApplyAdam(t.b.scope, t.var, t.m, t.v, power1, power2, t.number(lr), t.number(beta1), t.number(beta2),
                       t.number(epsilon), t.grad, ops::ApplyAdam::UseNesterov(nesterov).UseLocking(true));
    const ClientSession session(t.b.scope);
    ASSERT_TRUE(session.Run({}, {}, t.init, nullptr).ok());
    std::vector<double> var = kStart, m(3, 0), v(3, 0);
    for (int i = 1; i <= 5; ++i) {
      const std::vector<double> grad = gradient_at(i);
      const double p1 = std::pow(beta1, i), p2 = std::pow(beta2, i);
      for (std::size_t e = 0; e < 3; ++e) {
        m[e] = beta1 * m[e] + (1 - beta1) * grad[e];
        v[e] = beta2 * v[e] + (1 - beta2) * grad[e] * grad[e];
        const double mean = nesterov ? beta1 * m[e] + (1 - beta1) * grad[e] : m[e];
        var[e] -= lr * std::sqrt(1 - p2) / (1 - p1) * mean / (std::sqrt(v[e]) + epsilon);
      }
      std::vector<Tensor> outputs;
      const ClientSession::FeedType feeds = {
          {t.grad, tensor({3}, grad)}, {power1, t.number(p1)}, {power2, t.number(p2)}};
      ASSERT_TRUE(session.Run(feeds, {step}, &outputs).ok());
      expect_near(outputs[0], var, kSteps);
      // beta * m + (1 - beta) * grad cancels where it is written m += (1 - beta) * (grad - m): a step of 1, not of m.
      for (std::size_t e = 0; e < 3; ++e) {
        EXPECT_NEAR(t.b.run(session, t.m).at(static_cast<int64>(e)), m[e], 1e-15);
        EXPECT_NEAR(t.b.run(session, t.v).at(static_cast<int64>(e)), v[e], 1e-15);
      }
    }
  }
}

TEST(ApplyAdam, computes_in_every_type_it_takes) {
  for (DataType dtype : find_graph_op("ApplyAdam")->attr("T")->types) {
    Training t(dtype);
    // The first step of Adam is lr in the direction of the gradient; epsilon 0 makes it exact.
    const Output step = ops::ApplyAdam(t.b.scope, t.var, t.m, t.v, t.number(0.5), t.number(0.75), t.number(0.25),
                                       t.number(0.5), t.number(0.75), t.number(0), t.grad);
    const ClientSession session(t.b.scope);
    ASSERT_TRUE(session.Run({}, {}, t.init, nullptr).ok());
    std::vector<Tensor> outputs;
    ASSERT_TRUE(session.Run({{t.grad, tensor({3}, {4, -2, 8}, dtype)}}, {step}, &outputs).ok());
    expect_near(outputs[0], {0.75, -1.75, 0.25}, 2);
  }
}

}  // namespace
}  // namespace convgrad::graph

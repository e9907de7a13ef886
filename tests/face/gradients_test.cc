#include "face/graph_tests.h"

namespace convgrad::graph::test {
namespace {

TEST(Gradients, are_of_the_sum_weighted_by_grad_inputs) {
  const Scope root = Scope::NewRootScope();
  const auto x = ops::Const(root, {1.f, 2.f});
  const auto sum = ops::AddN(root, InputList({Output(ops::Add(root, x, x)), Output(ops::Identity(root, x))}));
  std::vector<Output> dxs;
  Status status = AddSymbolicGradients(root, {sum}, {x}, &dxs);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(elements(run(root, dxs[0])), (std::vector<double>{3, 3}));
  status =
      AddSymbolicGradients(root, {sum, x}, {x}, {ops::Const(root, {10.f, 100.f}), ops::Const(root, {1.f, 2.f})}, &dxs);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(dxs.size(), 1u);
  EXPECT_EQ(elements(run(root, dxs[0])), (std::vector<double>{31, 302}));
}

TEST(Gradients, tell_TensorFlows_three_errors) {
  const Scope root = Scope::NewRootScope();
  const auto x = ops::Const(root.WithOpName("x"), {1.f, 2.f}), other = ops::Const(root.WithOpName("other"), 1.f);
  const auto y = ops::Identity(root, x);
  std::vector<Output> dxs;
  EXPECT_TRUE(has(AddSymbolicGradients(root, {y}, {x}, {}, &dxs), "Must specify a gradient input for each output."));
  EXPECT_TRUE(
      has(AddSymbolicGradients(root, {y}, {other}, &dxs),
          "Cannot compute the partial derivative for node 'other' as it's unreachable from the output node(s)."));
  EXPECT_TRUE(root.ok());
  const auto sizes = ops::Shape(root, x);
  EXPECT_TRUE(has(AddSymbolicGradients(root, {sizes}, {x}, &dxs), "No gradient defined for op: Shape"));
}

TEST(Gradients, refuse_what_is_not_there) {
  const Scope root = Scope::NewRootScope(), other = Scope::NewRootScope();
  const auto x = ops::Const(root, 1.f), theirs = ops::Const(other, 1.f);
  std::vector<Output> dxs;
  EXPECT_EQ(AddSymbolicGradients(root, {x}, {x}, nullptr).core().argument(), "grad_outputs");
  EXPECT_EQ(AddSymbolicGradients(root, {Output()}, {x}, &dxs).core().rule(), "graph-gradient");
  EXPECT_EQ(AddSymbolicGradients(root, {x}, {NoGradient()}, &dxs).core().rule(), "graph-gradient");
  EXPECT_EQ(AddSymbolicGradients(root, {x}, {x}, {Output()}, &dxs).core().rule(), "graph-gradient");
  EXPECT_EQ(AddSymbolicGradients(root, {x}, {theirs}, &dxs).core().rule(), "graph-gradient");
  EXPECT_TRUE(root.ok());
  double error = 0;
  for (const Output& bad : {Output(), theirs, Output(x.node(), 7)}) {
    EXPECT_FALSE(
        (ComputeGradientError<float, float, double>(root, {bad}, {TensorShape()}, {x}, {TensorShape()}, &error)).ok());
    EXPECT_FALSE(
        (ComputeGradientError<float, float, double>(root, {x}, {TensorShape()}, {bad}, {TensorShape()}, &error)).ok());
  }
  EXPECT_FALSE((ComputeGradientError<float, float, double>(root, {x}, {}, {x}, {TensorShape()}, &error)).ok());
  EXPECT_FALSE((ComputeGradientError<float, float, double>(root, x, Tensor(DT_FLOAT, {-1}), x, {}, &error)).ok());
  EXPECT_TRUE((ComputeGradientError<float, float, double>(root, x, Tensor(1.f), x, {}, nullptr)).ok());
}

// w times x as a 1 x 1 convolution, so that its gradient is w.
Output scaled(const Scope& scope, const Output& x, float w) {
  return ops::Conv2D(scope, x, ops::Const(scope, w, {1, 1, 1, 1}), {1, 1, 1, 1}, "VALID");
}

// d(2^24 x + x)/dx is 2^24 + 1, which a float cannot hold: off by 1. The second output is exact.
TEST(GradientError, is_the_largest_of_all_pairs) {
  const Scope root = Scope::NewRootScope();
  const TensorShape shape({1, 2, 1, 1});
  const auto x = ops::Placeholder(root, DT_FLOAT, ops::Placeholder::Shape(shape));
  const auto rounded = ops::Add(root, scaled(root, x, 16777216.f), scaled(root, x, 1.f));
  const auto exact = scaled(root, x, 0.5f);
  double error = 0;
  Status status =
      ComputeGradientError<float, float, double>(root, {x}, {shape}, {rounded, exact}, {shape, shape}, &error);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_NEAR(error, 1, 1e-3);
  status = ComputeGradientError<float, float, double>(root, {x}, {shape}, {exact, rounded}, {shape, shape}, &error);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_NEAR(error, 1, 1e-3);
  status = ComputeGradientError<float, float, double>(root, {x}, {shape}, {exact}, {shape}, &error);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_LT(error, 1e-10);
}

TEST(GradientError, takes_a_start_value) {
  const Scope root = Scope::NewRootScope();
  const auto x = ops::Placeholder(root, DT_FLOAT, ops::Placeholder::Shape({1, 1, 1, 1}));
  Tensor start(DT_FLOAT, {1, 1, 1, 1});
  start.flat<float>()(0) = 1000;
  float error = 1;
  const Status status =
      ComputeGradientError<float, float, float>(root, x, start, scaled(root, x, 3), {1, 1, 1, 1}, &error);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_LT(error, 1e-7f);  // 3000 * 2^-53 / 1e-4 and some
}

// TensorFlow's C++ gradient of Conv2D forgets dilations: with SAME padding it answers as if they were 1.
TEST(Gradients, of_a_dilated_convolution_honour_its_dilations) {
  const Scope root = Scope::NewRootScope();
  const auto x = ops::Const(root, counted(DT_FLOAT, {1, 3, 3, 1})),
             w = ops::Const(root, counted(DT_FLOAT, {3, 3, 1, 1}));
  Tensor corner(DT_FLOAT, {1, 3, 3, 1});
  corner.flat<float>()(0) = 1;
  const auto y = ops::Conv2D(root, x, w, {1, 1, 1, 1}, "SAME", ops::Conv2D::Dilations({1, 2, 2, 1}));
  std::vector<Output> dxs;
  const Status status = AddSymbolicGradients(root, {y}, {x, w}, {ops::Const(root, corner)}, &dxs);
  ASSERT_TRUE(status.ok()) << status;
  // y[0,0] = 5 x[0,0] + 6 x[0,2] + 8 x[2,0] + 9 x[2,2]
  EXPECT_EQ(elements(run(root, dxs[0])), (std::vector<double>{5, 0, 6, 0, 0, 0, 8, 0, 9}));
  EXPECT_EQ(elements(run(root, dxs[1])), (std::vector<double>{0, 0, 0, 0, 1, 3, 0, 7, 9}));
}

TEST(Gradients, of_a_padded_convolution_honour_its_paddings) {
  const Scope root = Scope::NewRootScope();
  const auto x = ops::Const(root, {{{{2.f}, {3.f}}}}), w = ops::Const(root, {{{{5.f}}, {{7.f}}}});
  const auto y =
      ops::Conv2D(root, x, w, {1, 1, 1, 1}, "EXPLICIT", ops::Conv2D::ExplicitPaddings({0, 0, 0, 0, 2, 0, 0, 0}));
  std::vector<Output> dxs;
  const Status status = AddSymbolicGradients(root, {y}, {x, w}, &dxs);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(elements(run(root, y)), (std::vector<double>{0, 14, 31}));
  EXPECT_EQ(elements(run(root, dxs[0])), (std::vector<double>{12, 7}));
  EXPECT_EQ(elements(run(root, dxs[1])), (std::vector<double>{2, 5}));
}

}  // namespace
}  // namespace convgrad::graph::test

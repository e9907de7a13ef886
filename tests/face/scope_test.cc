#include "face/graph_tests.h"

namespace convgrad::graph::test {
namespace {

TEST(Scope, gives_the_six_names_that_TensorFlow_pins) {
  const Scope root = Scope::NewRootScope();
  EXPECT_EQ(ops::Const(root, 1).node()->name(), "Const");
  EXPECT_EQ(ops::Const(root, 1).node()->name(), "Const_1");
  EXPECT_EQ(ops::Const(root.WithOpName("x"), 1).node()->name(), "x");
  EXPECT_EQ(ops::Const(root.WithOpName("x"), 1).node()->name(), "x_1");
  const Scope child = root.NewSubScope("c");
  EXPECT_EQ(ops::Const(child.WithOpName("y"), 1).node()->name(), "c/y");
  EXPECT_EQ(ops::Const(child.WithOpName("y"), 1).node()->name(), "c/y_1");
}

TEST(Scope, numbers_sub_scopes_and_skips_names_in_use) {
  const Scope root = Scope::NewRootScope();
  EXPECT_EQ(ops::Const(root.NewSubScope("c"), 1).node()->name(), "c/Const");
  EXPECT_EQ(ops::Const(root.NewSubScope("c"), 1).node()->name(), "c_1/Const");
  EXPECT_EQ(ops::Const(root.NewSubScope("c").NewSubScope("d"), 1).node()->name(), "c_2/d/Const");
  EXPECT_EQ(ops::Const(root.WithOpName("x_1"), 1).node()->name(), "x_1");
  EXPECT_EQ(ops::Const(root.WithOpName("x"), 1).node()->name(), "x");
  EXPECT_EQ(ops::Const(root.WithOpName("x"), 1).node()->name(), "x_2");
  EXPECT_EQ(ops::Const(root.NewSubScope("").WithOpName("x"), 1).node()->name(), "x_3");
  EXPECT_EQ(ops::Const(root.WithOpName("a", 1, "_", 2.5), 1).node()->name(), "a1_2.5");
  EXPECT_EQ(root.GetUniqueNameForOp("Conv2D"), "Conv2D");
  EXPECT_EQ(root.GetUniqueNameForOp("Conv2D"), "Conv2D_1");
}

TEST(Scope, puts_a_constant_that_is_an_argument_into_a_sub_scope) {
  const Scope root = Scope::NewRootScope();
  const ops::Add sum(root.WithOpName("sum"), 1, 2);
  EXPECT_EQ(sum.operation.input(0).name(), "Const/Const:0");
  EXPECT_EQ(sum.operation.input(1).name(), "Const_1/Const:0");
  EXPECT_EQ(sum.node()->name(), "sum");
  EXPECT_EQ(sum.z.name(), "sum:0");
}

TEST(Scope, keeps_its_first_error_and_makes_no_more_nodes) {
  const Scope root = Scope::NewRootScope();
  const auto bad = ops::Add(root, {1.f, 2.f}, {1.f, 2.f, 3.f});
  EXPECT_EQ(bad.node(), nullptr);
  EXPECT_EQ(root.status().code(), error::INVALID_ARGUMENT);
  const Status first = root.status();
  const Scope derived = root.NewSubScope("c");
  EXPECT_FALSE(derived.ok());
  EXPECT_EQ(ops::Const(derived, 1).node(), nullptr);
  EXPECT_EQ(ops::Identity(root, bad).node(), nullptr);
  root.UpdateStatus(errors::Internal("later"));
  EXPECT_EQ(root.status(), first);

  std::vector<Tensor> outputs;
  const ClientSession session(root);
  EXPECT_EQ(session.Run({bad}, &outputs), first);
  EXPECT_EQ(session.Run({}, &outputs), first);
  std::vector<Output> dxs;
  EXPECT_EQ(AddSymbolicGradients(root, {bad}, {bad}, &dxs), first);
}

TEST(Scope, runs_what_it_waits_for_first) {
  const Scope root = Scope::NewRootScope();
  const auto p = ops::Placeholder(root.WithOpName("p"), DT_FLOAT);
  const auto one = ops::Const(root, 1.f);
  const auto waits = ops::Identity(root.WithControlDependencies(p), one);
  std::vector<Tensor> outputs;
  const ClientSession session(root);
  EXPECT_TRUE(has(session.Run({waits}, &outputs), "You must feed a value for placeholder tensor 'p' with dtype float"));
  const Status fed = session.Run({{p, 2.f}}, {waits}, &outputs);
  ASSERT_TRUE(fed.ok()) << fed;
  EXPECT_EQ(outputs[0].scalar<float>()(), 1.f);
  const auto free = ops::Identity(root.WithControlDependencies(p).WithNoControlDependencies(), one);
  EXPECT_TRUE(session.Run({free}, &outputs).ok());
}

TEST(Scope, keeps_the_device) {
  const Scope root = Scope::NewRootScope();
  EXPECT_EQ(ops::Const(root.WithDevice("/cpu:0"), 1).node()->device(), "/cpu:0");
}

TEST(Scope, lives_on_in_its_copies) {
  Scope root = Scope::NewRootScope();
  Scope moved = std::move(root);
  EXPECT_TRUE(root.ok());  // NOLINT: a moved-from scope is still a handle
  EXPECT_EQ(root.graph(), moved.graph());
}

TEST(ScopeDeathTest, ends_the_process_when_asked_to) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(ops::Add(Scope::NewRootScope().ExitOnError(), {1.f, 2.f}, {1.f, 2.f, 3.f}), "Incompatible shapes");
}

}  // namespace
}  // namespace convgrad::graph::test

#include "face/graph_tests.h"

namespace convgrad::graph::test {
namespace {

float value_in(const ClientSession& session, const Output& variable) {
  std::vector<Tensor> outputs;
  const Status status = session.Run({variable}, &outputs);
  EXPECT_TRUE(status.ok()) << status;
  return status.ok() ? outputs[0].flat<float>()(0) : -1;
}

TEST(Variables, live_as_long_as_their_session) {
  const Scope root = Scope::NewRootScope();
  const auto v = ops::Variable(root.WithOpName("v"), {1}, DT_FLOAT);
  const auto start = ops::Assign(root, v, {5.f});
  const auto down = ops::ApplyGradientDescent(root, v, 2.f, {1.f});
  const ClientSession session(root), other(root);
  ASSERT_TRUE(session.Run({start}, nullptr).ok());
  ASSERT_TRUE(session.Run({}, {}, {down.operation}, nullptr).ok());
  ASSERT_TRUE(session.Run({down}, nullptr).ok());
  EXPECT_EQ(value_in(session, v), 1);
  const Status none = other.Run({v}, nullptr);
  EXPECT_EQ(none.code(), error::FAILED_PRECONDITION);
  EXPECT_TRUE(has(none, "Attempting to use uninitialized value v"));
}

// Reads before a write in the order of making see the old value, reads after it the new one.
TEST(Variables, are_read_and_written_in_the_order_of_their_nodes) {
  const Scope root = Scope::NewRootScope();
  const auto v = ops::Variable(root, {1}, DT_FLOAT);
  const auto start = ops::Assign(root, v, {1.f});
  const auto before = ops::Add(root, v, {0.f});
  const auto down = ops::ApplyGradientDescent(root, v, 1.f, {-10.f});
  const auto after = ops::Add(root, v, {0.f});
  for (int threads : {1, 4}) {
    SessionOptions options;
    options.policy.threads = threads;
    const ClientSession session(root, options);
    ASSERT_TRUE(session.Run({start}, nullptr).ok());
    std::vector<Tensor> outputs;
    ASSERT_TRUE(session.Run({after, down, before, v}, &outputs).ok());
    EXPECT_EQ(outputs[0].flat<float>()(0), 11);
    EXPECT_EQ(outputs[1].flat<float>()(0), 11);
    EXPECT_EQ(outputs[2].flat<float>()(0), 1);
    EXPECT_EQ(outputs[3].flat<float>()(0), 11);
  }
}

TEST(Variables, belong_to_the_session_alone) {
  const Scope root = Scope::NewRootScope();
  const auto v = ops::Variable(root, {1}, DT_FLOAT);
  const auto p = ops::Placeholder(root, DT_FLOAT);
  const auto start = ops::Assign(root, v, p);
  const ClientSession session(root);
  Tensor mine = counted(DT_FLOAT, {1});
  std::vector<Tensor> outputs;
  ASSERT_TRUE(session.Run({{p, mine}}, {start}, &outputs).ok());
  mine.flat<float>()(0) = 100;
  EXPECT_EQ(value_in(session, v), 1);
  outputs[0].flat<float>()(0) = 200;
  EXPECT_EQ(value_in(session, v), 1);
  ASSERT_TRUE(session.Run({v}, &outputs).ok());
  const auto down = ops::ApplyGradientDescent(root, v, 1.f, {-1.f});
  ASSERT_TRUE(session.Run({down}, nullptr).ok());
  EXPECT_EQ(outputs[0].flat<float>()(0), 1);
}

}  // namespace
}  // namespace convgrad::graph::test

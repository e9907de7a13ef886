#include <atomic>
#include <thread>

#include "face/graph_tests.h"

namespace convgrad::graph::test {
namespace {

TEST(Session, answers_every_form_of_run) {
  const Scope root = Scope::NewRootScope();
  const auto a = ops::Placeholder(root, DT_INT32), b = ops::Placeholder(root, DT_INT32);
  const auto sum = ops::Add(root, a, b);
  const auto r = ops::Identity(root, sum);
  const ClientSession session(root);
  std::vector<Tensor> outputs;
  ASSERT_TRUE(session.Run({{a, 1}, {b, 41}}, {sum}, &outputs).ok());
  EXPECT_EQ(outputs[0].scalar<int>()(), 42);
  ASSERT_TRUE(session.Run({{a, {1, 2}}, {b, 10}}, {r, a, sum, r}, &outputs).ok());
  ASSERT_EQ(outputs.size(), 4u);
  EXPECT_EQ(elements(outputs[0]), (std::vector<double>{11, 12}));
  EXPECT_EQ(elements(outputs[1]), (std::vector<double>{1, 2}));
  EXPECT_EQ(elements(outputs[3]), (std::vector<double>{11, 12}));
  EXPECT_FALSE(outputs[0].SharesBufferWith(outputs[3]));
  ASSERT_TRUE(session.Run({{a, 1}, {b, 2}}, {sum}, {r.operation}, &outputs).ok());
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_TRUE(session.Run({{a, 1}, {b, 2}}, {}, {r.operation}, nullptr).ok());
  EXPECT_TRUE(session.Run({{a, 1}, {b, 2}}, {r}, nullptr).ok());
  RunMetadata metadata;
  ASSERT_TRUE(session.Run(RunOptions(), {{a, 1}, {b, 2}}, {r}, {}, &outputs, &metadata).ok());
  EXPECT_EQ(metadata.seconds.size(), 2u);
}

TEST(Session, sees_what_was_added_after_it_was_made) {
  const Scope root = Scope::NewRootScope();
  const auto a = ops::Const(root, {1.f, 2.f});
  const ClientSession session(root);
  std::vector<Tensor> outputs;
  ASSERT_TRUE(session.Run({a}, &outputs).ok());
  const auto twice = ops::Add(root, a, a);
  ASSERT_TRUE(session.Run({twice}, &outputs).ok());
  EXPECT_EQ(elements(outputs[0]), (std::vector<double>{2, 4}));
}

TEST(Session, outlives_the_scope_it_was_made_of) {
  std::unique_ptr<ClientSession> session;
  Output sum;
  {
    const Scope root = Scope::NewRootScope();
    sum = ops::Add(root, 1, 2);
    session = std::make_unique<ClientSession>(root, "");
  }
  std::vector<Tensor> outputs;
  ASSERT_TRUE(session->Run({sum}, &outputs).ok());
  EXPECT_EQ(outputs[0].scalar<int>()(), 3);
}

TEST(Session, takes_a_feed_for_any_node) {
  const Scope root = Scope::NewRootScope();
  const auto p = ops::Placeholder(root, DT_FLOAT);
  const auto middle = ops::Add(root, p, 1.f);
  const auto end = ops::Add(root, middle, 10.f);
  EXPECT_EQ(run(root, end, {{middle, 5.f}}).scalar<float>()(), 15.f);  // p is not needed
  EXPECT_EQ(run(root, middle, {{middle, 5.f}}).scalar<float>()(), 5.f);
  const auto constant = ops::Const(root, 2.f);
  EXPECT_EQ(run(root, ops::Identity(root, constant), {{constant, 3.f}}).scalar<float>()(), 3.f);
}

TEST(Session, leaves_what_was_fed_alone) {
  const Scope root = Scope::NewRootScope();
  const auto p = ops::Placeholder(root, DT_FLOAT);
  const Tensor mine = counted(DT_FLOAT, {2});
  Tensor fetched = run(root, ops::Identity(root, p), {{p, mine}});
  fetched.flat<float>()(0) = 50;
  EXPECT_EQ(mine.flat<float>()(0), 1);
}

TEST(Session, does_not_touch_outputs_when_it_refuses) {
  const Scope root = Scope::NewRootScope();
  const auto p = ops::Placeholder(root, DT_FLOAT);
  std::vector<Tensor> outputs = {Tensor(7)};
  EXPECT_FALSE(ClientSession(root).Run({p}, &outputs).ok());
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].scalar<int>()(), 7);
}

TEST(Session, gives_eight_threads_the_same_bits) {
  const Scope root = Scope::NewRootScope();
  Tensor x(DT_FLOAT, {2, 17, 17, 5}), w(DT_FLOAT, {3, 3, 5, 7});
  x.flat<float>().setRandom();
  w.flat<float>().setRandom();
  const auto p = ops::Placeholder(root, DT_FLOAT);
  const auto y = ops::Conv2D(root, p, w, {1, 2, 1, 1}, "SAME");
  const auto dw = ops::Conv2DBackpropFilterV2(root, p, w, y, {1, 2, 1, 1}, "SAME");
  const ClientSession session(root);
  std::vector<Tensor> expected;
  ASSERT_TRUE(session.Run({{p, x}}, {y, dw}, &expected).ok());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 5; ++turn) {
        std::vector<Tensor> outputs;
        const Status status = session.Run({{p, x}}, {y, dw}, &outputs);
        wrong += !status.ok() || !same_bits(outputs[0], expected[0]) || !same_bits(outputs[1], expected[1]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Session, refuses_outputs_of_nothing_and_of_others) {
  const Scope root = Scope::NewRootScope(), other = Scope::NewRootScope();
  const auto mine = ops::Const(root, 1.f);
  const auto theirs = ops::Const(other, 1.f);
  const ClientSession session(root);
  std::vector<Tensor> outputs;
  for (const Output& bad : {Output(), NoGradient(), Output(theirs), Output(mine.node(), 1), Output(mine.node(), -1)}) {
    EXPECT_EQ(session.Run({bad}, &outputs).code(), error::NOT_FOUND);
    EXPECT_EQ(session.Run({{bad, 1.f}}, {mine}, &outputs).code(), error::NOT_FOUND);
  }
  EXPECT_EQ(session.Run({}, {mine}, {Operation()}, &outputs).code(), error::NOT_FOUND);
  EXPECT_EQ(session.Run({}, {mine}, {theirs.op()}, &outputs).code(), error::NOT_FOUND);
  const Status nothing = session.Run({}, &outputs);
  EXPECT_EQ(nothing.code(), error::INVALID_ARGUMENT);
  EXPECT_TRUE(has(nothing, "Must specify at least one target to fetch or execute."));
}

TEST(Session, refuses_feeds_that_do_not_fit) {
  const Scope root = Scope::NewRootScope();
  const auto p = ops::Placeholder(root.WithOpName("p"), DT_FLOAT, ops::Placeholder::Shape({-1, 2}));
  const auto r = ops::Identity(root, p);
  const ClientSession session(root);
  std::vector<Tensor> outputs;
  EXPECT_TRUE(has(session.Run({r}, &outputs),
                  "You must feed a value for placeholder tensor 'p' with dtype float and shape [?,2]"));
  EXPECT_TRUE(has(session.Run({{p, {{1, 2}}}}, {r}, &outputs), "the tensor fed to 'p:0' has another type or shape"));
  EXPECT_TRUE(has(session.Run({{p, {1.f, 2.f}}}, {r}, &outputs), "got float[2], wanted float[?,2]"));
  const Status mixed = session.Run({{p, {{1.f}, {2.0}}}}, {r}, &outputs);
  EXPECT_TRUE(has(mixed, "same type"));
  EXPECT_FALSE(session.Run({{p, Tensor(DT_STRING, {1, 2})}}, {r}, &outputs).ok());
  EXPECT_TRUE(session.Run({{p, {{1.f, 2.f}}}}, {r}, &outputs).ok());
}

TEST(Inputs, of_another_graph_are_refused) {
  const Scope root = Scope::NewRootScope(), other = Scope::NewRootScope();
  const auto theirs = ops::Const(other, 1.f);
  EXPECT_EQ(ops::Identity(root, theirs).node(), nullptr);
  EXPECT_EQ(root.status().core().rule(), "graph-input");
  const Scope waiting = Scope::NewRootScope();
  EXPECT_EQ(ops::Const(waiting.WithControlDependencies(theirs), 1.f).node(), nullptr);
  EXPECT_EQ(waiting.status().core().argument(), "control_inputs");
  const Scope nothing = Scope::NewRootScope();
  EXPECT_EQ(ops::Const(nothing.WithControlDependencies(Output()), 1.f).node(), nullptr);
  EXPECT_EQ(nothing.status().core().argument(), "control_inputs");
  const Scope third = Scope::NewRootScope();
  EXPECT_EQ(ops::Identity(third, Output()).node(), nullptr);
  EXPECT_EQ(third.status().core().rule(), "graph-input");
}

}  // namespace
}  // namespace convgrad::graph::test

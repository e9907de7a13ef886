#include <atomic>
#include <set>
#include <stdexcept>

#include "face/graph_tests.h"

namespace convgrad::graph::test {
namespace {

SessionOptions with_threads(int threads) {
  SessionOptions options;
  options.policy.threads = threads;
  return options;
}

// Six convolutions side by side, large enough for threads of their own, and the sum of their results.
struct Wide {
  Scope scope = Scope::NewRootScope();
  Output x, sum;
  std::vector<Output> dws;

  Wide() {
    Tensor image(DT_FLOAT, {2, 40, 40, 8});
    image.flat<float>().setRandom();
    x = ops::Const(scope, image);
    std::vector<Output> ys, ws;
    for (int i = 0; i < 6; ++i) {
      Tensor w(DT_FLOAT, {3, 3, 8, 4});
      w.flat<float>().setRandom();
      w.flat<float>()(i) = static_cast<float>(i);
      ws.push_back(ops::Const(scope, w));
      ys.push_back(ops::Conv2D(scope, x, ws.back(), {1, 1, 1, 1}, "SAME"));
    }
    sum = ops::AddN(scope, ys);
    EXPECT_TRUE(AddSymbolicGradients(scope, {sum}, ws, &dws).ok());
  }
};

TEST(Executor, gives_the_same_bits_with_any_number_of_threads) {
  const Wide wide;
  std::vector<Output> fetch = wide.dws;
  fetch.push_back(wide.sum);
  std::vector<Tensor> expected;
  ASSERT_TRUE(ClientSession(wide.scope, with_threads(1)).Run(fetch, &expected).ok());
  for (int threads : {2, 3, 7}) {
    const ClientSession session(wide.scope, with_threads(threads));
    for (int turn = 0; turn < 3; ++turn) {
      std::vector<Tensor> outputs;
      ASSERT_TRUE(session.Run(fetch, &outputs).ok());
      for (std::size_t i = 0; i < fetch.size(); ++i) EXPECT_TRUE(same_bits(outputs[i], expected[i])) << threads;
    }
  }
}

TEST(Executor, tells_of_every_node_once) {
  const Wide wide;
  std::set<const Node*> told;
  std::vector<int> done;
  int total = 0;
  RunOptions options;
  options.progress = [&](const RunProgress& progress) {
    told.insert(progress.node);
    done.push_back(progress.done);
    total = progress.total;
    EXPECT_GE(progress.seconds, 0);
  };
  RunMetadata metadata;
  ASSERT_TRUE(ClientSession(wide.scope).Run(options, {}, {wide.sum}, {}, nullptr, &metadata).ok());
  EXPECT_EQ(total, 14);  // x, six filters, six convolutions, AddN: what the gradients add is not needed
  ASSERT_EQ(done.size(), 14u);
  for (int i = 0; i < 14; ++i) EXPECT_EQ(done[static_cast<std::size_t>(i)], i + 1);
  EXPECT_EQ(told.size(), 14u);
  EXPECT_EQ(metadata.seconds.size(), 14u);
}

TEST(Executor, stops_when_it_is_told_to) {
  const Wide wide;
  std::atomic<bool> cancel{true};
  RunOptions options;
  options.cancel = &cancel;
  std::vector<Tensor> outputs;
  const ClientSession session(wide.scope);
  EXPECT_EQ(session.Run(options, {}, {wide.sum}, {}, &outputs, nullptr).code(), error::CANCELLED);
  cancel = false;
  options.progress = [&](const RunProgress& progress) { cancel = progress.done >= 3; };
  EXPECT_EQ(session.Run(options, {}, {wide.sum}, {}, &outputs, nullptr).code(), error::CANCELLED);
  EXPECT_TRUE(outputs.empty());
  cancel = false;
  options.progress = {};
  EXPECT_TRUE(session.Run(options, {}, {wide.sum}, {}, &outputs, nullptr).ok());
}

TEST(Executor, survives_a_callback_that_throws) {
  const Wide wide;
  RunOptions options;
  options.progress = [](const RunProgress&) { throw std::runtime_error("from the callback"); };
  const ClientSession session(wide.scope, with_threads(3));
  EXPECT_TRUE(has(session.Run(options, {}, {wide.sum}, {}, nullptr, nullptr), "from the callback"));
  EXPECT_TRUE(session.Run({wide.sum}, nullptr).ok());
}

// The second to fail was made later and fails at once; the first only after a convolution.
TEST(Executor, tells_the_error_of_the_node_made_first) {
  const Scope root = Scope::NewRootScope();
  Tensor image(DT_FLOAT, {1, 60, 60, 8});
  const auto p = ops::Placeholder(root, DT_FLOAT);
  const auto slow = ops::Conv2D(root, p, Tensor(DT_FLOAT, {5, 5, 8, 8}), {1, 1, 1, 1}, "SAME");
  const auto first = ops::Add(root.WithOpName("first"), slow, Tensor(DT_FLOAT, {7}));
  const auto second = ops::Placeholder(root.WithOpName("second"), DT_FLOAT);
  const auto both = ops::Add(root, first, second);
  for (int threads : {1, 2, 3, 7}) {
    std::vector<Tensor> outputs;
    const Status status = ClientSession(root, with_threads(threads)).Run({{p, image}}, {both}, &outputs);
    EXPECT_TRUE(has(status, "Incompatible shapes: [1,60,60,8] vs. [7]"));
    EXPECT_TRUE(has(status, "[[{{node first}}]]"));
    EXPECT_EQ(status.core().node(), "first");
  }
}

TEST(Executor, goes_through_a_chain_of_thirty_thousand_nodes) {
  const Scope root = Scope::NewRootScope();
  Output sum = ops::Const(root, 0);
  for (int i = 0; i < 30000; ++i) sum = Output(root.add("Identity", {sum}), 0);
  EXPECT_EQ(run(root, sum).scalar<int>()(), 0);
}

}  // namespace
}  // namespace convgrad::graph::test

// Pages as graphs.
#include <gtest/gtest.h>

#include "convgrad/graph/page.h"
#include "convgrad/graph/session.h"

namespace convgrad::graph {
namespace {

PageNode constant(const string& id, std::initializer_list<float> values) {
  Tensor tensor(DT_FLOAT, TensorShape{static_cast<int64>(values.size())});
  tensor.flat<float>().setValues(values);
  return {.id = id, .op = "Const", .attrs = {{"value", tensor}}};
}

TEST(PageGraphs, take_a_chain_of_100000_nodes_in_a_second) {
  Page page;
  page.nodes.push_back(constant("n0", {1, 2}));
  for (int i = 1; i < 100000; ++i) {
    page.nodes.push_back({.id = "n" + std::to_string(i), .op = "Identity"});
    page.edges.push_back({{"n" + std::to_string(i - 1), "output"}, {"n" + std::to_string(i), "input"}});
  }
  const auto start = std::chrono::steady_clock::now();
  const string text = page_text(page).value();
  const Result<Page> read = parse_page(text);
  ASSERT_TRUE(read.ok()) << read.status().message();
  const Result<PageGraph> built = build_page(*read);
  ASSERT_TRUE(built.ok()) << built.status().message();
  EXPECT_EQ(built->nodes.size(), 100000u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

}  // namespace
}  // namespace convgrad::graph

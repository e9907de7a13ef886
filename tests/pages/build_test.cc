// Pages as graphs.
#include <chrono>

#include "convgrad/graph.h"
#include "pages/pages.h"

namespace convgrad::graph {
namespace {

using test::Blame, test::conv_page, test::constant, test::edge, test::expect_refused;

const NodeReport& report_of(const std::vector<NodeReport>& reports, const string& id) {
  for (const NodeReport& report : reports) {
    if (report.id == id) return report;
  }
  static const NodeReport none;
  ADD_FAILURE() << "no report of " << id;
  return none;
}

TEST(PageGraphs, run_and_have_ids_as_names) {
  const Result<PageGraph> built = build_page(conv_page());
  ASSERT_TRUE(built.ok()) << built.status().message();
  EXPECT_EQ(built->nodes.at("y")->name(), "y");
  std::vector<Tensor> outputs;
  ASSERT_TRUE(ClientSession(built->scope).Run(built->fetch, &outputs).ok());
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(test::numbers(outputs[0]), "0.5 1 1.5 2");
}

TEST(PageGraphs, do_not_depend_on_the_order_of_nodes_and_wires) {
  Page page = conv_page();
  std::reverse(page.nodes.begin(), page.nodes.end());
  std::reverse(page.edges.begin(), page.edges.end());
  const Result<PageGraph> built = build_page(page);
  ASSERT_TRUE(built.ok()) << built.status().message();
  EXPECT_EQ(built->nodes.at("y")->inputs()[0].node->name(), "x");
}

TEST(PageGraphs, fetch_what_nobody_reads_when_nothing_is_said) {
  Page page = conv_page();
  page.fetch.clear();
  page.nodes.push_back(constant("alone", {1}));
  const Result<PageGraph> built = build_page(page);
  ASSERT_TRUE(built.ok());
  ASSERT_EQ(built->fetch.size(), 2u);
  EXPECT_EQ(built->fetch[0].name(), "y:0");
  EXPECT_EQ(built->fetch[1].name(), "alone:0");
}

TEST(PageGraphs, keep_control_dependencies_both_ways) {
  Page page = conv_page();
  page.nodes.push_back(constant("first", {1}));
  page.edges.push_back({{"first", "^"}, {"y", "^"}});
  const Result<PageGraph> built = build_page(page);
  ASSERT_TRUE(built.ok()) << built.status().message();
  ASSERT_EQ(built->nodes.at("y")->control_inputs().size(), 1u);
  EXPECT_EQ(built->nodes.at("y")->control_inputs()[0]->name(), "first");
  const Page back = page_of(*built->scope.graph());
  EXPECT_NE(std::find(back.edges.begin(), back.edges.end(), page.edges.back()), back.edges.end());
}

TEST(PageGraphs, leave_the_names_of_new_nodes_free_of_collisions) {
  Page page{.nodes = {constant("Const", {1}), constant("Const_1", {1}), constant("a/b", {2})}};
  const Result<PageGraph> built = build_page(page);
  ASSERT_TRUE(built.ok());
  EXPECT_EQ(ops::Const(built->scope, 1.0F).node()->name(), "Const_2");
  EXPECT_EQ(ops::Const(built->scope.NewSubScope("a").WithOpName("b"), 1.0F).node()->name(), "a_1/b");
  EXPECT_TRUE(built->scope.ok());
}

TEST(PageGraphs, become_the_same_page_again) {
  Page page{.nodes = {constant("a", {1, 2}), constant("b", {3, 4}), {.id = "sum", .op = "AddN"}},
            .edges = {edge("a", "sum", "inputs:0"), edge("b", "sum", "inputs:1"), edge("a", "sum", "inputs:2")}};
  for (PageNode& node : page.nodes) {
    if (node.op == "Const") node.attrs["dtype"] = DT_FLOAT;
  }
  test::expect_same_page(page_of(*build_page(page)->scope.graph()), page);
}

TEST(PageGraphs, name_node_and_pin_of_a_mistake) {
  const auto refused = [](auto change, const Blame& blame) {
    Page page = conv_page();
    change(page);
    expect_refused(build_page(page).status(), blame);
  };
  refused([](Page& page) { page.nodes.push_back(constant("x", {1})); }, {"x", "id", "two nodes"});
  refused([](Page& page) { page.nodes[0].id = ""; }, {"", "id", "no id"});
  refused([](Page& page) { page.nodes[2].op = "Conv2"; }, {"y", "op", "did you mean 'Conv2D'?"});
  refused([](Page& page) { page.edges.pop_back(); }, {"y", "filter", "not wired"});
  refused([](Page& page) { page.edges[0].from.node = "z"; }, {"y", "input", "no such node"});
  refused([](Page& page) { page.edges[0].from.pin = "outptu"; }, {"y", "input", "did you mean 'output'?"});
  refused([](Page& page) { page.edges[0].to.pin = "inptu"; }, {"y", "inptu", "did you mean 'input'?"});
  refused([](Page& page) { page.edges.push_back(edge("x", "z", "input")); }, {"z", "input", "no such node"});
  refused([](Page& page) { page.edges.push_back(edge("w", "y", "input")); }, {"y", "input", "two wires"});
  refused([](Page& page) { page.edges.push_back({{"none", "^"}, {"y", "^"}}); }, {"y", "^", "no such node"});
  refused([](Page& page) { page.edges.push_back({{"x", "?"}, {"y", "^"}}); }, {"y", "^", "no such output"});
  refused([](Page& page) { page.fetch = {{"z", "output"}}; }, {"z", "output", "no such node"});
  refused([](Page& page) { page.fetch = {{"y", "outptu"}}; }, {"y", "outptu", "did you mean 'output'?"});
  refused([](Page& page) { page.nodes[2].attrs.erase("strides"); }, {"y", "strides", "missing"});
  refused([](Page& page) { page.nodes[2].attrs["strides"] = string("1"); }, {"y", "strides", "another kind"});
  refused([](Page& page) { page.nodes[2].attrs["padding"] = string("MAYBE"); }, {"y", "padding", "SAME"});
  refused([](Page& page) { page.nodes[2].attrs["strides"] = std::vector<int64>{1, 0, 1, 1}; }, {"y", "strides", ""});
}

TEST(PageGraphs, refuse_gaps_and_repeats_in_lists) {
  Page page{.nodes = {constant("a", {1}), {.id = "sum", .op = "AddN"}}};
  expect_refused(build_page(page).status(), {"sum", "inputs:0", "not wired"});
  page.edges = {edge("a", "sum", "inputs:0"), edge("a", "sum", "inputs:2")};
  expect_refused(build_page(page).status(), {"sum", "inputs:1", "not wired"});
  page.edges = {edge("a", "sum", "inputs:0"), edge("a", "sum", "inputs:0")};
  expect_refused(build_page(page).status(), {"sum", "inputs:0", "two wires"});
  for (const char* pin : {"inputs", "inputs:", "inputs:00", "inputs:-1", "inputs:1x", "inputs:99999999999999999999"}) {
    page.edges = {edge("a", "sum", pin)};
    EXPECT_FALSE(build_page(page).ok()) << pin;
  }
}

TEST(PageGraphs, refuse_a_cycle_and_name_its_nodes) {
  const Page page{
      .nodes = {{.id = "a", .op = "Identity"}, {.id = "b", .op = "Identity"}, {.id = "behind", .op = "Identity"}},
      .edges = {edge("a", "b", "input"), edge("b", "a", "input"), edge("b", "behind", "input")}};
  expect_refused(build_page(page).status(), {"a", "edges", "\"a\" <- \"b\" <- \"a\""});
  const std::vector<NodeReport> reports = infer_page(page);
  ASSERT_EQ(reports.size(), 3u);
  EXPECT_EQ(reports[0].status.rule(), "graph-cycle");
  EXPECT_EQ(reports[1].status.rule(), "graph-cycle");
  expect_refused(reports[2].status, {"behind", "input", "\"b\", which is wrong"});
}

TEST(PageGraphs, refuse_a_node_that_waits_for_itself) {
  const Page page{.nodes = {constant("a", {1})}, .edges = {{{"a", "^"}, {"a", "^"}}}};
  expect_refused(build_page(page).status(), {"a", "edges", "circle of 1 nodes"});
}

TEST(PageReports, tell_good_nodes_beside_bad_ones) {
  Page page = conv_page();
  page.nodes.push_back(
      {.id = "bad", .op = "Conv2D", .attrs = {{"padding", string("SAME")}, {"strides", std::vector<int64>{1, 1}}}});
  page.nodes.push_back({.id = "behind", .op = "Identity"});
  page.edges.push_back(edge("x", "bad", "input"));
  page.edges.push_back(edge("w", "bad", "filter"));
  page.edges.push_back(edge("bad", "behind", "input"));
  page.edges.push_back(edge("x", "nowhere", "input"));
  const std::vector<NodeReport> reports = infer_page(page);
  ASSERT_EQ(reports.size(), 6u);
  EXPECT_TRUE(report_of(reports, "y").status.ok());
  ASSERT_EQ(report_of(reports, "y").outputs.size(), 1u);
  EXPECT_EQ(report_of(reports, "y").outputs[0].shape.DebugString(), "[1,2,2,1]");
  EXPECT_EQ(report_of(reports, "y").outputs[0].dtype, DT_FLOAT);
  expect_refused(report_of(reports, "bad").status, {"bad", "strides", ""});
  expect_refused(report_of(reports, "behind").status, {"behind", "input", "which is wrong"});
  expect_refused(report_of(reports, "nowhere").status, {"nowhere", "input", "no such node"});
}

TEST(PageReports, blame_the_node_with_the_unknown_op_and_not_only_its_reader) {
  Page page = conv_page();
  page.nodes[0].op = "Cnost";
  const std::vector<NodeReport> reports = infer_page(page);
  expect_refused(report_of(reports, "x").status, {"x", "op", "did you mean 'Const'?"});
  expect_refused(report_of(reports, "y").status, {"y", "input", "\"x\", which is wrong"});
}

// Half a second; quadratic steps would take minutes, and the test's time limit.
TEST(PageGraphs, take_a_chain_of_100000_nodes) {
  Page page;
  page.nodes.push_back(constant("n0", {1, 2}));
  for (int i = 1; i < 100000; ++i) {
    page.nodes.push_back({.id = "n" + std::to_string(i), .op = "Identity"});
    page.edges.push_back(edge("n" + std::to_string(i - 1), "n" + std::to_string(i), "input"));
  }
  const string text = page_text(page).value();
  const Result<Page> read = parse_page(text);
  ASSERT_TRUE(read.ok()) << read.status().message();
  const Result<PageGraph> built = build_page(*read);
  ASSERT_TRUE(built.ok()) << built.status().message();
  EXPECT_EQ(built->nodes.size(), 100000u);
}

TEST(PageGraphs, refuse_100000_mistakes_without_quadratic_time) {
  Page page;
  for (int i = 0; i < 100000; ++i) {
    page.nodes.push_back({.id = "n" + std::to_string(i), .op = "Identity"});
    page.edges.push_back(edge("n" + std::to_string(i), "n" + std::to_string((i + 1) % 100000), "input"));
    page.edges.push_back(edge("m" + std::to_string(i), "n" + std::to_string(i), "^", "^"));
  }
  EXPECT_EQ(infer_page(page).size(), 100000u);
}

}  // namespace
}  // namespace convgrad::graph

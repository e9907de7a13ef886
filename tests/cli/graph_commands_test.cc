// check, explain, infer, grad and gradcheck of graphs.
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/graphs.h"
#include "cli/program.h"
#include "convgrad/graph/page.h"

namespace convgrad::test {
namespace {

using nlohmann::json;

// x and w of shapes that do not fit each other, and a node that reads the wrong one.
Page wrong_page() {
  return page({counting("x", {1, 3, 3, 2}), counting("w", {2, 2, 3, 1}),
               node("y", "Conv2D", {{"strides", {1, 1, 1, 1}}, {"padding", "VALID"}}), node("z", "Identity")},
              {edge("x", "y", "input"), edge("w", "y", "filter"), edge("y", "z", "input")});
}

std::string line_with(const std::string& text, const std::string& part) {
  const std::size_t at = text.find(part);
  if (at == std::string::npos) return "no line with " + part;
  const std::size_t start = text.rfind('\n', at) + 1;
  return text.substr(start, text.find('\n', at) - start);
}

TEST(CheckGraph, says_ok_with_counts) {
  const std::string file = saved("small.json", small_page());
  const Outcome text = program({"check", file});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_EQ(text.out, "ok 3 nodes, 2 wires\n");
  EXPECT_EQ(json::parse(program({"check", file, "--json"}).out), json({{"ok", true}, {"errors", json::array()}}));
  EXPECT_EQ(program({"check", "-"}, small_page().dump()).out, "ok 3 nodes, 2 wires\n");
}

TEST(CheckGraph, prints_every_error_with_node_and_pin) {
  const Outcome check = program({"check", saved("wrong.json", wrong_page())});
  EXPECT_EQ(check.code, 2);
  EXPECT_EQ(check.out, "");
  const std::string y = line_with(check.err, "node 'y'"), z = line_with(check.err, "node 'z'");
  EXPECT_NE(y.find("channel"), std::string::npos) << check.err;
  EXPECT_NE(y.find("(input: got 2 channels"), std::string::npos) << check.err;
  EXPECT_NE(z.find("(input: got \"y\""), std::string::npos) << check.err;
  EXPECT_EQ(std::count(check.err.begin(), check.err.end(), '\n'), 2) << check.err;
  const json answer = json::parse(program({"check", scratch("wrong.json"), "--json"}).out);
  EXPECT_EQ(answer["ok"], false);
  EXPECT_EQ(answer["errors"][0]["node"], "y");
}

TEST(CheckGraph, finds_cycles_missing_pins_and_unknown_words) {
  const Page cycle =
      page({node("a", "Identity"), node("b", "Identity")}, {edge("a", "b", "input"), edge("b", "a", "input")});
  EXPECT_NE(program({"check", saved("p.json", cycle)}).err.find("rule graph-cycle"), std::string::npos);
  Page missing = small_page();
  missing["edges"].erase(1);
  expect_refused(program({"check", saved("p.json", missing)}), "graph-input", "filter");
  Page op = small_page();
  op["nodes"][2]["op"] = "Conv2";
  expect_refused(program({"check", saved("p.json", op)}), "op-name", "did you mean 'Conv2D'?");
  Page attr = small_page();
  attr["nodes"][2]["attrs"]["stride"] = {1, 1, 1, 1};
  expect_refused(program({"check", saved("p.json", attr)}), "graph-attr", "did you mean 'strides'?");
  Page fetch = small_page();
  fetch["fetch"] = Page::array({Page::array({"q", "output"})});
  EXPECT_EQ(program({"check", saved("p.json", fetch)}).code, 2);
  expect_failed(program({"check", scratch("nowhere.json")}), "cannot read");
}

TEST(CheckGraph, refuses_every_cut_of_a_file) {
  const std::string whole = small_page().dump();
  for (std::size_t size = 0; size < whole.size(); size += 11) {
    const Outcome cut = program({"check", "-"}, whole.substr(0, size));
    EXPECT_EQ(cut.code, 2) << size << ": " << cut.err;
    EXPECT_EQ(std::count(cut.err.begin(), cut.err.end(), '\n'), 1) << cut.err;
  }
}

TEST(Infer, shows_the_type_and_shape_of_every_wire) {
  const Outcome text = program({"infer", saved("small.json", small_page())});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_EQ(text.out, "x.output float [1,3,3,1]\nw.output float [2,2,1,1]\ny.output float [1,2,2,1]\n");
  const json answer = json::parse(program({"infer", scratch("small.json"), "--json"}).out);
  EXPECT_EQ(answer["nodes"][2],
            json({{"id", "y"},
                  {"op", "Conv2D"},
                  {"ok", true},
                  {"outputs", {{{"pin", "output"}, {"dtype", "float"}, {"shape", {1, 2, 2, 1}}}}}}));
}

TEST(Infer, tells_what_is_known_of_a_wrong_page) {
  const Outcome text = program({"infer", saved("wrong.json", wrong_page())});
  EXPECT_EQ(text.code, 2);
  EXPECT_EQ(text.out, "x.output float [1,3,3,2]\nw.output float [2,2,3,1]\n");
  EXPECT_NE(text.err.find("node 'y'"), std::string::npos);
  const json answer = json::parse(program({"infer", scratch("wrong.json"), "--json"}).out);
  EXPECT_EQ(answer["ok"], false);
  EXPECT_EQ(answer["nodes"][2]["error"]["node"], "y");
}

TEST(Infer, leaves_unknown_sizes_open) {
  Page open = small_page();
  open["nodes"][0] = node("x", "Placeholder", {{"dtype", "float"}});
  const Outcome text = program({"infer", saved("open.json", open)});
  EXPECT_NE(text.out.find("x.output float <unknown>\n"), std::string::npos) << text.out;
  const json answer = json::parse(program({"infer", scratch("open.json"), "--json"}).out);
  EXPECT_EQ(answer["nodes"][0]["outputs"][0]["shape"], nullptr);
}

TEST(ExplainGraph, plans_every_convolution_and_sums) {
  Page two = small_page();
  two["nodes"].push_back(node("y2", "Conv2D", {{"strides", {1, 2, 2, 1}}, {"padding", "SAME"}}));
  two["edges"].push_back(edge("x", "y2", "input"));
  two["edges"].push_back(edge("w", "y2", "filter"));
  const Outcome text = program({"explain", saved("two.json", two), "--engine", "reference"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("y Conv2D\n  problem    n1c1h3w3_k1r2s2_"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("y2 Conv2D\n"), std::string::npos);
  EXPECT_NE(text.out.find("  engine     reference\n"), std::string::npos);
  EXPECT_NE(text.out.find("  nodes      4 with 2 convolutions\n"), std::string::npos);
  EXPECT_NE(text.out.find("  tensors    84 bytes\n"), std::string::npos) << "9 + 4 + 4 + 4 floats: " << text.out;
}

TEST(ExplainGraph, says_what_is_known_only_at_the_run) {
  Page open = small_page();
  open["nodes"][0] = node("x", "Placeholder", {{"dtype", "float"}});
  const Outcome text = program({"explain", saved("open.json", open)});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("not known  node 'y': Conv2D: the shapes of this convolution"), std::string::npos)
      << text.out;
  EXPECT_NE(text.out.find("  unknown    2 outputs"), std::string::npos) << text.out;
}

TEST(ExplainGraph, refuses_wrong_pages_and_policies) {
  EXPECT_EQ(program({"explain", saved("wrong.json", wrong_page())}).code, 2);
  expect_refused(program({"explain", saved("small.json", small_page()), "--engine", "warp"}), "engine-name", "warp",
                 "unimplemented");
}

TEST(Grad, adds_nodes_that_give_the_gradients) {
  Page source = small_page();
  source["view"] = {{"x", {10, 20}}};
  const std::string out = scratch("with.json");
  const Outcome made = program({"grad", saved("small.json", source), "--of", "y", "--wrt", "x,w", "--out", out});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.out, "");
  const Page with = Page::parse(read_file(out));
  EXPECT_EQ(with["view"], source["view"]);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(with["nodes"][i]["id"], source["nodes"][i]["id"]);
  EXPECT_TRUE(with["nodes"][3]["id"].get<std::string>().starts_with("gradients/"));
  ASSERT_EQ(with["fetch"].size(), 2u);
  const json run = json::parse(program({"run", out, "--json"}).out);
  // d sum(y) / dw[a][b] is the sum of x's 2x2 window at (a, b); / dx, how often each w is used.
  EXPECT_EQ(run["results"][0]["values"], json({1, 3, 2, 4, 10, 6, 3, 7, 4}));
  EXPECT_EQ(run["results"][1]["values"], json({12, 16, 24, 28}));
}

TEST(Grad, writes_to_standard_output_and_can_be_repeated) {
  const std::string file = saved("small.json", small_page());
  const Outcome first = program({"grad", file, "--of", "y", "--wrt", "w"});
  EXPECT_EQ(first.code, 0) << first.err;
  const Outcome run = program({"run", "-", "--json"}, first.out);
  EXPECT_EQ(json::parse(run.out)["results"][0]["values"], json({12, 16, 24, 28}));
  // d/dx of d sum(y)/dw: each x is in as many windows as it lies in 2x2 windows of the 3x3 image.
  const std::string dw = Page::parse(first.out)["fetch"][0][0];
  const Outcome second = program({"grad", "-", "--of", dw, "--wrt", "x"}, first.out);
  ASSERT_EQ(second.code, 0) << second.err;
  const json twice = json::parse(program({"run", "-", "--json"}, second.out).out);
  EXPECT_EQ(twice["results"].back()["values"], json({1, 2, 1, 2, 4, 2, 1, 2, 1}));
}

TEST(Grad, keeps_what_the_page_fetched) {
  Page source = small_page();
  source["fetch"] = Page::array({Page::array({"y", "output"})});
  const Outcome made = program({"grad", saved("small.json", source), "--of", "y", "--wrt", "w"});
  EXPECT_EQ(Page::parse(made.out)["fetch"][0], source["fetch"][0]);
  EXPECT_EQ(Page::parse(made.out)["fetch"].size(), 2u);
}

TEST(Grad, refuses_what_has_no_gradient) {
  const std::string file = saved("small.json", small_page());
  expect_refused(program({"grad", file, "--of", "x", "--wrt", "w"}), "graph-gradient", "unreachable");
  expect_refused(program({"grad", file, "--of", "q", "--wrt", "w"}), "graph-fetch", "(--of: got 'q'");
  expect_refused(program({"grad", file, "--of", "y", "--wrt", "q"}), "graph-fetch", "(--wrt: got 'q'");
  expect_usage_error(program({"grad", file, "--of", "y"}), "--wrt is required");
  expect_usage_error(program({"grad", file, "--wrt", "x"}), "--of is required");
  expect_failed(program({"grad", file, "--of", "y", "--wrt", "x", "--out", "/no/such/folder/g.json"}), "cannot write");
  EXPECT_EQ(program({"grad", saved("wrong.json", wrong_page()), "--of", "y", "--wrt", "x"}).code, 2);
}

TEST(Gradcheck, passes_a_right_gradient) {
  const std::string file = saved("small.json", small_page());
  const Outcome text = program({"gradcheck", file, "--of", "y", "--wrt", "x,w"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("verdict             ok\n"), std::string::npos) << text.out;
  const json answer = json::parse(program({"gradcheck", file, "--of", "y", "--wrt", "x,w", "--json"}).out);
  EXPECT_EQ(answer["ok"], true);
  EXPECT_NEAR(answer["largest"].get<double>(), 9, 1e-6) << "x's largest value, at which w is differentiated";
  EXPECT_LE(answer["max_error"], answer["tolerance"]);
  // max(1, 9) * (1e-6 + 4 * 2^-24 * sqrt(9 elements of x)).
  EXPECT_NEAR(answer["tolerance"].get<double>(), 9 * (1e-6 + 4 * 0x1p-24 * 3), 1e-9);
}

TEST(Gradcheck, fails_beyond_the_tolerance) {
  const Outcome text =
      program({"gradcheck", saved("small.json", small_page()), "--of", "y", "--wrt", "x", "--tolerance", "1e-30"});
  EXPECT_EQ(text.code, 2);
  EXPECT_NE(text.out.find("verdict             wrong\n"), std::string::npos) << text.out;
  EXPECT_NE(text.err.find("convgrad: the gradients differ by "), std::string::npos) << text.err;
}

TEST(Gradcheck, draws_values_for_placeholders) {
  Page open = small_page();
  open["nodes"][0] = node("x", "Placeholder", {{"dtype", "float"}, {"shape", {1, 3, 3, 1}}});
  EXPECT_EQ(program({"gradcheck", saved("open.json", open), "--of", "y", "--wrt", "x,w"}).code, 0);
  open["nodes"][0] = node("x", "Placeholder", {{"dtype", "float"}});
  expect_refused(program({"gradcheck", saved("open.json", open), "--of", "y", "--wrt", "x"}), "graph-shape",
                 "known only when it runs");
}

TEST(Gradcheck, refuses_bad_words) {
  const std::string file = saved("small.json", small_page());
  expect_refused(program({"gradcheck", file, "--of", "y", "--wrt", "x", "--tolerance", "-1"}), "attr-type",
                 "--tolerance");
  expect_refused(program({"gradcheck", file, "--of", "y", "--wrt", "nix"}), "graph-fetch", "no node 'nix'");
  expect_refused(program({"gradcheck", file, "--of", "w", "--wrt", "x"}), "graph-gradient", "unreachable");
}

}  // namespace
}  // namespace convgrad::test

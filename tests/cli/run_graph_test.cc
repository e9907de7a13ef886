// run GRAPH: fetches, feeds, files, and how tensors are shown.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "cli/graphs.h"
#include "cli/program.h"
#include "convgrad/npy.h"
#include "support/cases.h"

namespace convgrad::test {
namespace {

using graph::read_npy;

std::string npy_file(const std::string& name, const graph::Tensor& tensor) {
  write_file(scratch(name), graph::npy_bytes(tensor).value());
  return scratch(name);
}

graph::Tensor filled(const graph::TensorShape& shape, float value) {
  graph::Tensor tensor(graph::DT_FLOAT, shape);
  tensor.flat<float>().setConstant(value);
  return tensor;
}

// x -> y = Identity(x), x float of any shape.
Page fed_page() {
  return page({node("x", "Placeholder", {{"dtype", "float"}}), node("y", "Identity")}, {edge("x", "y", "input")});
}

// Row-major lines of a value window: name, index, value with six decimals.
std::string window(const nlohmann::json& expected) {
  const std::vector<int> shape = expected["shape"];
  std::string text = expected["block"].get<std::string>() + ".result_output";
  for (const int size : shape) text += "[" + std::to_string(size) + "]";
  text += " float\n";
  std::vector<int> at(shape.size(), 0);
  for (const double value : expected["values"]) {
    text += "result_output";
    for (const int index : at) text += "[" + std::to_string(index) + "]";
    text += " " + std::to_string(static_cast<long>(value)) + ".000000\n";
    for (std::size_t d = shape.size(); d-- > 0 && ++at[d] == shape[d];) at[d] = 0;
  }
  return text;
}

TEST(RunGraph, prints_the_windows_of_every_scene) {
  int shown = 0;
  const nlohmann::json scenes = load("scenes.json")["scenes"];
  for (const nlohmann::json& scene : scenes) {
    const Page made = scene_page(scene);
    if (made.is_null() || scene["expected"].empty() || scene["expected"][0]["dtype"] != "float") continue;
    const std::string file = saved("scene.json", made);
    for (const nlohmann::json& expected : scene["expected"]) {
      const Outcome run = program({"run", file, "--fetch", expected["block"]});
      EXPECT_EQ(run.code, 0) << run.err;
      EXPECT_EQ(run.out, window(expected)) << scene["id"];
    }
    EXPECT_EQ(program({"run", file}).out, window(scene["expected"].back())) << "the page's own fetch";
    ++shown;
  }
  EXPECT_GE(shown, 6);
}

TEST(RunGraph, prints_the_seeds_tables_from_the_examples) {
  const std::map<std::string, std::string> files = {{"Conv2D", "conv2d"},
                                                    {"Conv2DBackpropFilter", "conv2d_backprop_filter"},
                                                    {"Conv2DBackpropInput", "conv2d_backprop_input"},
                                                    {"Conv3D", "conv3d"},
                                                    {"Conv3DBackpropFilterV2", "conv3d_backprop_filter_v2"},
                                                    {"Conv3DBackpropInputV2", "conv3d_backprop_input_v2"}};
  int shown = 0;
  const nlohmann::json scenes = load("scenes.json")["scenes"];
  for (const nlohmann::json& scene : scenes) {
    const auto found = files.find(scene["id"]);
    if (found == files.end()) continue;
    const std::string file = CONVGRAD_SOURCE_DIR "/examples/graphs/" + found->second + ".json";
    nlohmann::json expected = scene["expected"].back();
    expected["block"] = nlohmann::json::parse(read_file(file))["fetch"][0][0];
    EXPECT_EQ(program({"run", file}).out, window(expected)) << file;
    ++shown;
  }
  EXPECT_EQ(shown, 6);
}

TEST(RunGraph, reads_a_page_from_standard_input) {
  const Outcome run = program({"run", "-"}, small_page().dump());
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out,
            "y.result_output[1][2][2][1] float\nresult_output[0][0][0][0] 37.000000\nresult_output[0][0][1][0] "
            "47.000000\nresult_output[0][1][0][0] 67.000000\nresult_output[0][1][1][0] 77.000000\n");
}

TEST(RunGraph, fetches_a_list_in_its_order) {
  const std::string file = saved("small.json", small_page());
  for (const std::vector<std::string>& fetch :
       std::vector<std::vector<std::string>>{{"--fetch", "w,y"}, {"--fetch", "w", "--fetch", "y:0"}}) {
    std::vector<std::string> args = {"run", file, "--json"};
    args.insert(args.end(), fetch.begin(), fetch.end());
    const nlohmann::json answer = nlohmann::json::parse(program(args).out);
    ASSERT_EQ(answer["results"].size(), 2u);
    EXPECT_EQ(answer["results"][0]["name"], "w");
    EXPECT_EQ(answer["results"][1]["values"], nlohmann::json({37, 47, 67, 77}));
  }
}

TEST(RunGraph, json_tells_type_shape_range_and_seconds) {
  const Outcome run = program({"run", saved("small.json", small_page()), "--json"});
  const nlohmann::json answer = nlohmann::json::parse(run.out);
  EXPECT_EQ(answer["ok"], true);
  const nlohmann::json& y = answer["results"][0];
  EXPECT_EQ(y["pin"], "output");
  EXPECT_EQ(y["dtype"], "float");
  EXPECT_EQ(y["shape"], nlohmann::json({1, 2, 2, 1}));
  EXPECT_EQ(y["min"], 37);
  EXPECT_EQ(y["max"], 77);
  EXPECT_EQ(y["mean"], 57);
  EXPECT_EQ(y["nan_count"], 0);
  EXPECT_EQ(answer["nodes"].size(), 3u);
}

TEST(RunGraph, prints_integers_plainly_and_scalars_without_index) {
  const Page made =
      page({constant("i", "int32", {-7, 70000}), constant("l", "int64", {5}), constant("b", "bool", {1, 0}),
            node("s", "Const", {{"value", {{"dtype", "double"}, {"shape", Page::array()}, {"data", {0.5}}}}})},
           {});
  const Outcome run = program({"run", saved("kinds.json", made), "--fetch", "i,l,b,s"});
  EXPECT_EQ(run.out,
            "i.result_output[2] int32\nresult_output[0] -7\nresult_output[1] 70000\n\n"
            "l.result_output[1] int64\nresult_output[0] 5\n\n"
            "b.result_output[2] bool\nresult_output[0] true\nresult_output[1] false\n\n"
            "s.result_output double\nresult_output 0.500000\n")
      << run.err;
}

TEST(RunGraph, sums_up_a_large_tensor) {
  graph::Tensor x = filled({2, 50}, 1);
  x.flat<float>()(0) = -3;
  x.flat<float>()(1) = 5;
  x.flat<float>()(99) = std::nanf("");
  const Outcome run = program({"run", saved("fed.json", fed_page()), "--feed", "x=" + npy_file("x.npy", x)});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out,
            "y.result_output[2][50] float\nelements   100\nmin        -3.000000\nmax        5.000000\nmean       "
            "1.000000\nNaN        1\nslice      result_output[0][0:8] -3.000000 5.000000 1.000000 1.000000 1.000000 "
            "1.000000 1.000000 1.000000\n");
}

TEST(RunGraph, shows_that_an_empty_tensor_has_no_elements) {
  const std::string feed = "x=" + npy_file("empty.npy", filled({0, 3}, 0));
  const Outcome run = program({"run", saved("fed.json", fed_page()), "--feed", feed});
  EXPECT_EQ(run.out, "y.result_output[0][3] float\nno elements\n") << run.err;
  const nlohmann::json answer =
      nlohmann::json::parse(program({"run", scratch("fed.json"), "--feed", feed, "--json"}).out);
  EXPECT_EQ(answer["results"][0]["min"], nullptr);
}

TEST(RunGraph, takes_a_feed_in_place_of_any_node) {
  const std::string file = saved("small.json", small_page());
  const Outcome run = program({"run", file, "--feed", "w=" + npy_file("w.npy", filled({2, 2, 1, 1}, 1)), "--json"});
  EXPECT_EQ(nlohmann::json::parse(run.out)["results"][0]["values"], nlohmann::json({12, 16, 24, 28})) << run.err;
}

TEST(RunGraph, writes_a_file_a_fetch) {
  const std::string file = saved("small.json", small_page()), folder = scratch("results");
  const Outcome run = program({"run", file, "--fetch", "x,y", "--out", folder});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(read_npy(folder + "/x.npy")->NumElements(), 9);
  const graph::Tensor y = read_npy(folder + "/y.npy").value();
  EXPECT_EQ(y.shape(), graph::TensorShape({1, 2, 2, 1}));
  EXPECT_EQ(y.at(3), 77);
}

TEST(RunGraph, refuses_names_that_leave_the_folder) {
  for (const char* name : {"../evil", "a/../../evil", "/tmp/evil", "..", "a/."}) {
    Page made = page({constant("x", "float", {1})}, {});
    made["nodes"][0]["id"] = name;
    const std::string folder = scratch("inside");
    const Outcome run = program({"run", saved("evil.json", made), "--fetch", name, "--out", folder});
    expect_refused(run, "graph-fetch", "would leave the folder");
    EXPECT_FALSE(std::filesystem::exists(folder)) << name;
  }
  expect_refused(program({"run", saved("small.json", small_page()), "--fetch", "y,y:0", "--out", scratch("twice")}),
                 "graph-fetch", "two fetches would write the same file");
}

TEST(RunGraph, keeps_names_with_parts_inside_the_folder) {
  Page made = page({constant("a/b", "float", {4})}, {});
  EXPECT_EQ(program({"run", saved("parts.json", made), "--out", scratch("parts")}).code, 0);
  EXPECT_EQ(read_npy(scratch("parts/a/b.npy"))->at(0), 4);
}

TEST(RunGraph, gives_the_same_text_for_any_engine_and_thread_count) {
  const std::string file = saved("small.json", small_page());
  const std::string wanted = program({"run", file}).out;
  EXPECT_EQ(program({"run", file, "--threads", "1"}).out, wanted);
  EXPECT_EQ(program({"run", file, "--threads", "3", "--engine", "reference"}).out, wanted);
  expect_refused(program({"run", file, "--threads", "x"}), "attr-type", "--threads");
  expect_refused(program({"run", file, "--engine", "warp"}), "engine-name", "warp", "unimplemented");
}

TEST(RunGraph, dry_run_shows_plans_and_runs_nothing) {
  const std::string file = saved("small.json", small_page());
  const Outcome text = program({"run", file, "--dry-run", "--out", scratch("dry")});
  EXPECT_EQ(text.code, 0);
  EXPECT_NE(text.out.find("y Conv2D\n  problem    n1c1h3w3_k1r2s2_"), std::string::npos) << text.out;
  EXPECT_FALSE(std::filesystem::exists(scratch("dry")));
  const nlohmann::json json = nlohmann::json::parse(program({"run", file, "--dry-run", "--json"}).out);
  EXPECT_EQ(json["convolutions"].size(), 1u);
  EXPECT_EQ(json["convolutions"][0]["tensor_bytes"], 4 * (9 + 4 + 4));
  EXPECT_EQ(json["tensor_bytes"], 4 * (9 + 4 + 4));
}

TEST(RunGraph, refuses_what_is_no_output) {
  const std::string file = saved("small.json", small_page());
  expect_refused(program({"run", file, "--fetch", "yy"}), "graph-fetch", "no node 'yy' (--fetch: got 'yy'");
  expect_refused(program({"run", file, "--fetch", "[]"}), "graph-fetch", "no node '[]'");
  expect_refused(program({"run", saved("loss.json", page({constant("loss", "float", {1})}, {})), "--fetch", "lsos"}),
                 "graph-fetch", "no node 'lsos'; did you mean 'loss'?");
  expect_refused(program({"run", file, "--fetch", "y:1"}), "graph-fetch", "'y' has no output 1");
  expect_refused(program({"run", file, "--fetch", "y:-1"}), "graph-fetch", "'y' has no output -1");
  expect_refused(program({"run", file, "--fetch", "y:a"}), "attr-type", "--fetch");
  expect_refused(program({"run", file, "--fetch", ""}), "graph-fetch", "no node ''");
  expect_refused(program({"run", file, "--fetch", "y,"}), "graph-fetch", "no node ''");
  expect_refused(program({"run", "-"}, page({}, {}).dump()), "graph-fetch", "has no output to show");
}

TEST(RunGraph, refuses_feeds_that_do_not_fit) {
  const std::string file = saved("small.json", small_page());
  graph::Tensor wide(graph::DT_DOUBLE, graph::TensorShape({2, 2, 1, 1}));
  wide.flat<double>().setZero();
  expect_refused(program({"run", file, "--feed", "w=" + npy_file("d.npy", wide)}), "graph-feed",
                 "node 'w': ClientSession: the tensor fed to 'w:0' has another type or shape (w: got double[2,2,1,1], "
                 "wanted float[2,2,1,1])");
  expect_refused(program({"run", file, "--feed", "w=" + npy_file("w3.npy", filled({3}, 1))}), "graph-feed", "float[3]");
  expect_refused(program({"run", file, "--feed", "v=" + scratch("w3.npy")}), "graph-fetch", "no node 'v'");
  expect_refused(program({"run", file, "--feed", "w"}), "graph-fetch", "a feed is written name=file.npy");
  expect_refused(program({"run", file, "--feed", "w="}), "graph-fetch", "a feed is written name=file.npy");
  const std::string w = "w=" + npy_file("w.npy", filled({2, 2, 1, 1}, 1));
  expect_refused(program({"run", file, "--feed", w, "--feed", w}), "graph-fetch", "'w' is fed twice");
  write_file(scratch("bad.npy"), "no such file");
  EXPECT_EQ(program({"run", file, "--feed", "w=" + scratch("bad.npy")}).code, 2);
  expect_failed(program({"run", file, "--feed", "w=" + scratch("missing.npy")}), "cannot read");
  expect_failed(program({"run", file, "--feed", "w=/dev/zero"}), "not a plain file");
}

TEST(RunGraph, names_the_node_that_cannot_run) {
  const Outcome unfed = program({"run", saved("fed.json", fed_page())});
  expect_refused(unfed, "graph-feed", "node 'x': ");
  const Outcome json = program({"run", scratch("fed.json"), "--json"});
  EXPECT_EQ(json.code, 2);
  EXPECT_EQ(nlohmann::json::parse(json.out)["node"], "x");
}

TEST(RunGraph, refuses_options_of_the_other_kind) {
  const std::string file = saved("small.json", small_page());
  expect_refused(program({"run", file, "--first", "x.npy"}), "problem-string", "--first is for problem strings");
  expect_refused(program({"run", file, "--seed", "1"}), "problem-string", "--seed is for problem strings");
  expect_usage_error(program({"run", "n1c1h4w4_k1r3s3_valid_forward", "--fetch", "y"}), "are for graph files");
}

TEST(RunGraph, says_which_file_it_cannot_read_or_write) {
  expect_failed(program({"run", scratch("no.json")}), "cannot read");
  expect_failed(program({"run", saved("small.json", small_page()), "--out", "/dev/null"}), "cannot make");
  expect_refused(program({"run", "-"}, "{"), "graph-file", "");
  expect_refused(program({"run", "-"}, "[]"), "graph-file", "");
}

}  // namespace
}  // namespace convgrad::test

// Every request of docs/design/009-studio.md with its values.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "convgrad/graph/page.h"
#include "convgrad/npy.h"
#include "convgrad/plan.h"
#include "studio/pages.h"
#include "studio/server/body.h"

namespace convgrad::test {
namespace {

Json pins(const std::string& node, const std::string& pin = "output") {
  return Json::array({Json::array({node, pin})});
}

TEST(Requests, about_says_what_this_is) {
  const std::filesystem::path file = std::filesystem::canonical(testing::TempDir()) / "some.json";
  std::ofstream(file) << R"({"convgrad": 1, "nodes": []})";
  const Studio studio({file.string()});
  const Json about = studio.get("/api/about").json();
  EXPECT_EQ(about["file"], "some.json");
  EXPECT_EQ(about["folder"], file.parent_path().string());
  EXPECT_EQ(about["budgets"]["seconds"], 300);
  EXPECT_EQ(about["budgets"]["nodes"], 20'000);
  EXPECT_FALSE(about["version"].get<std::string>().empty());
  Json engines = Json::array();
  for (const EngineInfo& engine : all_engines())
    engines.push_back({{"name", engine.name}, {"obstacle", engine.obstacle}, {"description", engine.description}});
  EXPECT_EQ(about["engines"], engines);
  EXPECT_EQ(Studio().get("/api/about").json()["file"], nullptr);
}

TEST(Requests, ops_are_the_librarys_with_formula_and_scene) {
  const Studio studio;
  Json answer = studio.get("/api/ops").json();
  int formulas = 0;
  for (Json& op : answer["ops"]) {
    formulas += op.contains("formula") ? 1 : 0;
    if (op["name"] == "Conv3DBackpropFilterV2") {
      EXPECT_TRUE(op["formula"].get<std::string>().starts_with("dw[t,c,k] = sum over n, o of x["));
      EXPECT_EQ(op["scene"], "conv3d_backprop_filter_v2");
    }
    if (op["name"] == "Relu") {
      EXPECT_EQ(op["scene"], "train_cnn");
    }
    op.erase("formula");
    op.erase("scene");
  }
  EXPECT_EQ(formulas, 12);  // eight of Conv2D and Conv3D, three of depthwise ones, BiasAddGrad
  EXPECT_EQ(answer, Json::parse(graph::ops_json()));
}

TEST(Requests, infer_tells_shapes_and_errors_with_their_fix) {
  const Studio studio;
  const Json good = studio.post("/api/infer", body(small_page())).json();
  EXPECT_EQ(good["ok"], true);
  EXPECT_EQ(good["nodes"][2], Json::parse(R"({"id": "y", "op": "Conv2D", "ok": true,
      "outputs": [{"pin": "output", "dtype": "float", "shape": [1, 2, 2, 1]}]})"));
  Json wrong = small_page();
  wrong["nodes"].push_back(node("dw", "Conv2DBackpropFilter", {{"strides", {1, 1, 1, 1}}, {"padding", "VALID"}}));
  wrong["edges"].push_back(edge("x", "dw", "input"));
  wrong["edges"].push_back(edge("y", "dw", "out_backprop"));
  const Json answer = studio.post("/api/infer", body(wrong)).json();
  EXPECT_EQ(answer["ok"], false);
  EXPECT_EQ(answer["nodes"][3]["error"]["argument"], "filter_sizes");
  const Json fix = answer["nodes"][3]["error"]["fix"];
  EXPECT_EQ(fix["commands"], Json::parse(R"([{"connect": [["w", "output"], ["dw", "filter_sizes"]]}])"));
  EXPECT_EQ(answer["errors"][0]["fix"], fix);
  Json format = small_page();
  format["nodes"][2]["attrs"]["data_format"] = "NDHWC";
  EXPECT_EQ(studio.post("/api/infer", body(format)).json()["nodes"][2]["error"]["fix"]["commands"],
            Json::parse(R"([{"set": ["y", "data_format", "NHWC"]}])"));
}

TEST(Requests, tensors_are_cut_into_slices) {
  const Studio studio;
  const Json cube = page({counting("t", {2, 3, 4}), constant("odd", {4}, {0.1, 1e30, -0.0, 3})}, {});
  const std::string run = studio.start(body(cube));
  studio.events(run);
  const std::string path = "/api/runs/" + run + "/tensor?node=t&pin=output&at=";
  const Json slice = studio.get(path + "1,:,2").json();
  EXPECT_EQ(slice["data"], Json({"15", "19", "23"}));
  EXPECT_EQ(slice["at"], "1,:,2");
  EXPECT_EQ(slice["shape"], Json({2, 3, 4}));
  EXPECT_EQ(slice["total"], 3);
  EXPECT_EQ(slice["stats"]["count"], 24);
  EXPECT_EQ(slice["stats"]["min"], 1);
  EXPECT_EQ(slice["stats"]["mean"], 12.5);
  EXPECT_EQ(studio.get(path + ":,:,:&limit=2").json()["data"], Json({"1", "2"}));
  EXPECT_EQ(studio.get(path).json()["data"].size(), 24u);
  for (const char* at : {"2,0,0", "0,0", "0,0,0,0", "-1,0,0", "x,0,0", "0,,0", ":"})
    EXPECT_EQ(studio.get(path + at).status, 400) << at;
  EXPECT_EQ(studio.get("/api/runs/" + run + "/tensor?node=odd&pin=output").json()["data"],
            Json({"0.1", "1e+30", "-0.0", "3"}));
  EXPECT_EQ(studio.get("/api/runs/" + run + "/tensor?node=none&pin=output").status, 400);
  EXPECT_EQ(studio.get("/api/runs/" + run + "/tensor?node=t&pin=none").status, 400);
  EXPECT_EQ(studio.get("/api/runs/99/tensor?node=t&pin=output").status, 404);
}

TEST(Requests, numbers_that_are_none_are_told) {
  const Studio studio;
  Json odd = page({counting("t", {3})}, {});
  odd["nodes"][0]["attrs"]["value"]["data"] = Json({"NaN", "-Infinity", 2});
  const std::string run = studio.start(body(odd));
  studio.events(run);
  const Json all = studio.get("/api/runs/" + run + "/tensor?node=t&pin=output").json();
  EXPECT_EQ(all["data"], Json({"NaN", "-Infinity", "2"}));
  EXPECT_EQ(all["stats"]["nan"], 1);
  EXPECT_EQ(all["stats"]["inf"], 1);
  EXPECT_EQ(all["stats"]["min"], 2);
  EXPECT_EQ(all["stats"]["max"], 2);
}

TEST(Requests, tensors_go_out_and_in_as_npy) {
  const Studio studio;
  const std::string run = studio.start(body(small_page()));
  studio.events(run);
  const Reply file = studio.get("/api/runs/" + run + "/npy?node=y&pin=output");
  ASSERT_EQ(file.status, 200);
  EXPECT_NE(file.headers.find("application/octet-stream"), std::string::npos) << file.headers;
  const Result<graph::Tensor> tensor = graph::parse_npy(file.body);
  ASSERT_TRUE(tensor.ok()) << tensor.status().message();
  EXPECT_EQ(tensor->at(3), 77);
  EXPECT_EQ(studio.post("/api/npy", file.body).json(),
            Json::parse(R"({"dtype": "float", "shape": [1, 2, 2, 1], "data": ["37", "47", "67", "77"]})"));
  EXPECT_EQ(studio.post("/api/npy", std::string("\x93NUMPY\1\0", 8)).status, 400);
}

TEST(Requests, differences_have_their_place) {
  const Studio studio;
  const Json two =
      page({constant("a", {2, 2}, {1, 2, 3, 4}), constant("b", {2, 2}, {1, 2, 5, 4.5}), counting("c", {4})}, {});
  const std::string run = studio.start(body(two));
  studio.events(run);
  const auto ask = [&](const char* a, const char* b) {
    return studio.post("/api/difference", Json{{"run", run}, {"a", Json({a, "output"})}, {"b", Json({b, "output"})}});
  };
  EXPECT_EQ(ask("a", "b").json(), Json::parse(R"({"max": 2.0, "at": [1, 0], "mean": 0.625, "equal_bits": false})"));
  EXPECT_EQ(ask("a", "a").json()["equal_bits"], true);
  EXPECT_EQ(ask("a", "c").status, 400);
}

TEST(Requests, differentiate_adds_blocks_behind_those_that_are_there) {
  const Studio studio;
  Json request = body(small_page());
  request["outputs"] = pins("y");
  request["inputs"] = pins("w");
  const Json answer = studio.post("/api/differentiate", request).json();
  ASSERT_FALSE(answer["added"].empty()) << answer;
  EXPECT_EQ(answer["page"]["nodes"].size(), 3 + answer["added"].size());
  const std::string run = studio.start(body(answer["page"]));
  const RunEvents events = studio.events(run);
  EXPECT_EQ(events.node(answer["gradients"][0][0])["outputs"][0]["head"], Json({"12", "16", "24", "28"}));
  request["inputs"] = pins("nowhere");
  EXPECT_EQ(studio.post("/api/differentiate", request).status, 400);
  request["inputs"] = Json::array();
  EXPECT_EQ(studio.post("/api/differentiate", request).status, 400);
}

TEST(Requests, gradcheck_says_the_error_of_every_input) {
  const Studio studio;
  Json request = body(small_page());
  request["outputs"] = pins("y");
  request["inputs"] = Json::array({Json::array({"w", "output"}), Json::array({"x", "output"})});
  const Json answer = studio.post("/api/gradcheck", request).json();
  EXPECT_EQ(answer["ok"], true) << answer;
  EXPECT_LT(answer["error"], 1e-5);
  ASSERT_EQ(answer["by_input"].size(), 2u);
  EXPECT_EQ(answer["by_input"][1]["input"], Json({"x", "output"}));
}

TEST(Requests, explain_writes_the_sum_of_a_cell_out) {
  const Studio studio;
  const Json scene = Json::parse(read_file(CONVGRAD_SOURCE_DIR "/examples/graphs/conv3d_backprop_filter_v2.json"));
  const std::string run = studio.start(body(scene));
  studio.events(run);
  const Json request = {{"run", run}, {"node", "filter_gradient"}, {"index", {0, 0, 0, 0, 0}}};
  const Json answer = studio.post("/api/explain", request).json();
  EXPECT_EQ(answer["result"], "121040");
  EXPECT_EQ(answer["engine"], "cpu");
  EXPECT_EQ(answer["sum"], "121040");
  EXPECT_EQ(answer["total"], 2);
  EXPECT_EQ(answer["terms"][1], Json::parse(R"({"tap": [0, 0, 0],
      "a": {"pin": "input", "index": [1, 0, 0, 0, 0], "value": "17"},
      "b": {"pin": "out_backprop", "index": [1, 0, 0, 0, 0], "value": "6952"}, "product": "118184"})"));
  const auto with = [&](const char* name, Json value) {
    Json changed = request;
    changed[name] = std::move(value);
    return studio.post("/api/explain", changed).status;
  };
  EXPECT_EQ(with("index", {0, 0, 0, 0, 2}), 400);
  EXPECT_EQ(with("index", {0}), 400);
  EXPECT_EQ(with("node", "input"), 400);
  EXPECT_EQ(with("node", "nowhere"), 400);
  EXPECT_EQ(with("run", "99"), 404);
}

// All cells of a block: what is listed adds up to what was computed.
void expect_sums(const Studio& studio, const Json& page, const std::string& block, const std::vector<int>& shape) {
  const std::string run = studio.start(body(page));
  ASSERT_EQ(studio.events(run).done()["ok"], true);
  std::vector<int> index(shape.size(), 0);
  for (bool more = true; more;) {
    const Json answer = studio.post("/api/explain", Json{{"run", run}, {"node", block}, {"index", index}}).json();
    EXPECT_EQ(answer["sum"], answer["result"]) << block << Json(index) << answer;
    EXPECT_EQ(answer["terms"].size(), answer["total"]);
    std::size_t axis = shape.size();
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1]) index[--axis] = 0;
    more = axis > 0;
  }
}

TEST(Requests, explain_adds_up_for_depthwise_and_grouped_blocks_in_both_layouts) {
  const Studio studio;
  const Json last = {{"strides", {1, 2, 2, 1}}, {"dilations", {1, 1, 1, 1}}, {"padding", "SAME"}};
  expect_sums(studio,
              page({counting("x", {1, 3, 3, 2}), counting("w", {2, 2, 2, 2}), node("y", "DepthwiseConv2dNative", last)},
                   {edge("x", "y", "input"), edge("w", "y", "filter")}),
              "y", {1, 2, 2, 4});
  const Json first = {{"strides", {1, 1, 1, 1}},
                      {"dilations", {1, 1, 2, 1}},
                      {"padding", "EXPLICIT"},
                      {"explicit_paddings", {0, 0, 0, 0, 1, 0, 0, 2}},
                      {"data_format", "NCHW"}};
  const Json grouped = page(
      {counting("x", {1, 4, 3, 3}), counting("w", {2, 2, 2, 2}), node("y", "Conv2D", first), node("sizes", "Shape"),
       node("dw", "Conv2DBackpropFilter", first), node("like", "Shape"), node("dx", "Conv2DBackpropInput", first)},
      {edge("x", "y", "input"), edge("w", "y", "filter"), edge("w", "sizes", "input"), edge("x", "dw", "input"),
       edge("sizes", "dw", "filter_sizes"), edge("y", "dw", "out_backprop"), edge("x", "like", "input"),
       edge("like", "dx", "input_sizes"), edge("w", "dx", "filter"), edge("y", "dx", "out_backprop")});
  expect_sums(studio, grouped, "y", {1, 2, 2, 4});
  expect_sums(studio, grouped, "dw", {2, 2, 2, 2});
  expect_sums(studio, grouped, "dx", {1, 4, 3, 3});
}

TEST(Requests, plan_is_what_explain_says) {
  const Studio studio;
  Json request = body(small_page());
  request["node"] = "y";
  const Json plan = studio.post("/api/plan", request).json();
  EXPECT_EQ(plan["op"], "Conv2D");
  EXPECT_NE(plan["problem"].get<std::string>().find("n1c1h3w3_k1r2s2"), std::string::npos) << plan;
  EXPECT_EQ(plan["engine"], "cpu");
  request["engine"] = "reference";
  EXPECT_EQ(studio.post("/api/plan", request).json()["engine"], "reference");
  request["node"] = "x";
  EXPECT_EQ(studio.post("/api/plan", request).status, 400);
}

TEST(Requests, pages_go_out_in_every_style) {
  const Studio studio;
  const std::pair<const char*, const char*> styles[] = {{"cpp_graph", "ClientSession"}, {"cpp_eager", "conv2d("},
                                                        {"python_convgrad", "raw_ops"}, {"python_tensorflow", "tf."},
                                                        {"graphviz", "digraph"},        {"test_case", "\"77\""}};
  for (const auto& [style, part] : styles) {
    Json request = body(small_page());
    request["style"] = style;
    const Json answer = studio.post("/api/export", request).json();
    EXPECT_NE(answer["text"].get<std::string>().find(part), std::string::npos) << style << answer;
    EXPECT_FALSE(answer["name"].get<std::string>().empty());
  }
  Json request = body(small_page());
  request["style"] = "word";
  EXPECT_EQ(studio.post("/api/export", request).status, 400);
}

TEST(Requests, enuspace_pages_go_out_and_come_back_with_their_places) {
  const Studio studio;
  Json request = body(small_page());
  request["style"] = "enuspace";
  const Json sent = studio.post("/api/export", request).json();
  const std::string svg = R"svg(<svg><use id="x" type="tensorflow" transform="matrix(1 0 0 1 40 60)"/></svg>)svg";
  const Json answer = studio.post("/api/import", Json{{"json", sent["text"]}, {"svg", studio::to_base64(svg)}}).json();
  ASSERT_TRUE(answer.contains("page")) << answer;
  EXPECT_EQ(answer["page"]["view"], Json::parse(R"({"studio": 1, "at": {"x": [40, 60]}})"));
  EXPECT_EQ(studio.run(body(answer["page"])).node("y")["outputs"][0]["head"][3], "77");
  EXPECT_EQ(studio.post("/api/import", Json{{"json", "!"}}).status, 400);
  EXPECT_EQ(studio.post("/api/import", Json{{"json", sent["text"]}, {"svg", "AAAA"}}).status, 400);
  EXPECT_EQ(studio.post("/api/import", Json::object()).status, 400);
}

TEST(Base64, goes_there_and_back) {
  for (const std::string& bytes : {std::string(), std::string("f"), std::string("fo"), std::string("foo"),
                                   std::string("\0\xFF\x10", 3), std::string("convgrad")}) {
    const Result<std::string> back = studio::from_base64("text", studio::to_base64(bytes));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(*back, bytes);
  }
  EXPECT_EQ(studio::to_base64("fo"), "Zm8=");
  for (const char* wrong : {"A", "A===", "A*==", "AAAAA"})
    EXPECT_FALSE(studio::from_base64("text", wrong).ok()) << wrong;
}

}  // namespace
}  // namespace convgrad::test

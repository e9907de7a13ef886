// enuSpace's pages: its texts, and what we do instead of its defects.
#include "convgrad/graph/session.h"
#include "pages/pages.h"
#include "pages/unicode.h"

namespace convgrad::graph {
namespace {

using test::Blame, test::conv_page, test::edge, test::expect_refused, test::expect_same_page;

string pin(const string& name, const string& rest) { return R"({"pin-name": ")" + name + "\", " + rest + "}"; }
string typed(const string& name, const string& text) { return pin(name, R"("pin-initial": ")" + text + "\""); }
string wired(const string& name, const string& from, const string& output = "output") {
  return pin(name, R"("in-symbol-id": ")" + from + R"(", "in-symbol-pin-name": ")" + output + "\"");
}
string value(const string& type, const string& shape, const string& text) {
  return pin("val",
             R"("pin-datatype": ")" + type + R"(", "pin-shape": ")" + shape + R"(", "pin-initial": ")" + text + "\"");
}
string block(const string& symbol, const string& id, const std::vector<string>& pins) {
  string list;
  for (const string& one : pins) list += (list.empty() ? "" : ", ") + one;
  return R"({"symbol-name": "#)" + symbol + R"(", "id": ")" + id + R"(", "input": [)" + list + R"(], "output": []})";
}
string page_json(const std::vector<string>& blocks) {
  string list;
  for (const string& one : blocks) list += (list.empty() ? "" : ", ") + one;
  return R"({"object": [)" + list + "]}";
}

const string kX = block("Const", "x", {value("float", "[1][2][2][1]", "1,2,3,4")});
const string kW = block("Const", "w", {value("float", "[1][1][1][1]", "0.5")});
string conv(const std::vector<string>& pins) {
  std::vector<string> all = {wired("input", "x"), wired("filter", "w")};
  all.insert(all.end(), pins.begin(), pins.end());
  return block("Conv2D", "y", all);
}
string conv_with_attrs(const string& attrs) {
  return page_json({kX, kW, conv({typed("strides", "1,1,1,1"), typed("padding", "SAME"), typed("attrs", attrs)})});
}
string volume_with_attrs(const string& attrs) {
  return page_json({block("Const", "x", {value("float", "[1][1][1][2][1]", "3,5")}),
                    block("Const", "w", {value("float", "[1][1][1][1][1]", "2")}),
                    block("Conv3D", "y",
                          {wired("input", "x"), wired("filter", "w"), typed("strides", "1,1,1,1,1"),
                           typed("padding", "SAME"), typed("attrs", attrs)})});
}

std::vector<Tensor> run(const Page& page) {
  const Result<PageGraph> built = build_page(page);
  EXPECT_TRUE(built.ok()) << built.status().message();
  std::vector<Tensor> outputs;
  if (!built.ok()) return outputs;
  const Status status = ClientSession(built->scope).Run(built->fetch, &outputs);
  EXPECT_TRUE(status.ok()) << status;
  return outputs;
}

const AttrValue& attr_of(const Page& page, const string& id, const string& attr) {
  for (const PageNode& node : page.nodes) {
    if (node.id == id && node.attrs.contains(attr)) return node.attrs.at(attr);
  }
  static const AttrValue none = false;
  ADD_FAILURE() << id << " has no " << attr;
  return none;
}

TEST(EnuSpace, texts_of_lists_have_commas_semicolons_or_braces) {
  for (const char* text : {"1,2,3,1", "{1,2,3,1}", "1;2;3;1", " { 1, 2, 3, 1 } "}) {
    const Result<Page> page =
        page_from_enuspace(page_json({kX, kW, conv({typed("strides", text), typed("padding", "SAME")})}));
    ASSERT_TRUE(page.ok()) << page.status().message();
    EXPECT_EQ(std::get<std::vector<int64>>(attr_of(*page, "y", "strides")), (std::vector<int64>{1, 2, 3, 1}));
  }
}

TEST(EnuSpace, attrs_are_read_with_any_blanks) {
  const Result<Page> page = page_from_enuspace(
      conv_with_attrs(" data_format_=NCHW ; use_cudnn_on_gpu_ = false;; explicit_paddings_ = {0,0,0,0,0,0,0,0}"));
  ASSERT_TRUE(page.ok()) << page.status().message();
  EXPECT_EQ(std::get<string>(attr_of(*page, "y", "data_format")), "NCHW");
  EXPECT_EQ(std::get<bool>(attr_of(*page, "y", "use_cudnn_on_gpu")), false);
  EXPECT_EQ(std::get<std::vector<int64>>(attr_of(*page, "y", "explicit_paddings")).size(), 8u);
}

TEST(EnuSpace, mistakes_name_block_and_pin) {
  const std::pair<string, Blame> cases[] = {
      {conv_with_attrs("data_fromat_ = NHWC;"), {"y", "data_fromat_", "did you mean 'data_format'?"}},
      {conv_with_attrs("data_format_ = NHCW;"), {"y", "data_format", "NHWC"}},
      {conv_with_attrs("data_format_;"), {"y", "attrs", "name_ = value"}},
      {conv_with_attrs("data_format_ = NHWC; data_format_ = NHWC"), {"y", "data_format", "twice"}},
      {conv_with_attrs("T_ = float;"), {"y", "T_", "no attr"}},
      {page_json({kX, kX}), {"x", "id", "two blocks"}},
      {page_json({block("FusedPadConv2D", "f", {})}), {"f", "op", "no op"}},
      {page_json({kX, kW, conv({typed("stirdes", "1")})}), {"y", "stirdes", "did you mean 'strides'?"}},
      {page_json({kX, kW, conv({typed("strides", "1,x")})}), {"y", "strides", "cannot be read"}},
      {page_json({kX, kW, conv({typed("strides", "1"), typed("strides", "1")})}), {"y", "strides", "twice"}},
      {page_json({block("Conv2D", "y", {typed("input", "1,2")})}), {"y", "input", "a wire is wanted"}},
      {page_json({block("Const", "c", {value("string", "[1]", "a")})}), {"c", "val", "element type"}},
      {page_json({block("Const", "c", {value("int", "[1]", "1.5")})}), {"c", "val", "element 0"}},
      {page_json({block("Const", "c", {value("float", "[x]", "1")})}), {"c", "shape", "cannot be read"}},
      {page_json({block("Const", "c", {})}), {"c", "val", "no value"}},
      {page_json({block("ClientSession", "s", {wired("fetch", "x")})}), {"s", "fetch", "fetch_outputs"}},
      {page_json({block("FeedType", "f", {wired("input", "p")})}), {"f", "input", "one placeholder"}},
      {R"({"object": [{"symbol-name": "#Add", "id": "a", "output": [{"pin-name": "zz"}]}]})", {"a", "zz", "no pin"}},
      {R"({"object": [{"symbol-name": "#Add", "id": "a", "input": [{}]}]})", {"a", "pin-name", "no name"}},
      {R"({"object": [{"id": "a"}]})", {"", "id", "symbol-name"}},
      {R"({"objects": []})", {"", "object", "no page of enuSpace"}},
  };
  for (const auto& [json, blame] : cases) expect_refused(page_from_enuspace(json).status(), blame);
}

TEST(EnuSpace, comes_in_utf16_of_either_order_and_in_utf8) {
  const string text = page_json({block("Const", "é😀", {value("float", "[2]", "1,2")})}), little = to_utf16(text);
  string big = little;
  for (std::size_t i = 0; i < big.size(); i += 2) std::swap(big[i], big[i + 1]);
  for (const string& bytes : {text, "\xEF\xBB\xBF" + text, little, big}) {
    const Result<Page> page = page_from_enuspace(bytes);
    ASSERT_TRUE(page.ok()) << page.status().message();
    EXPECT_EQ(page->nodes[0].id, "é😀");
  }
  EXPECT_FALSE(page_from_enuspace(little.substr(0, little.size() - 1)).ok());
  EXPECT_FALSE(page_from_enuspace(string("\xFF\xFE\x00\xD8", 4)).ok());
  EXPECT_FALSE(page_from_enuspace(string("\xFE\xFF\xDC\x00", 4)).ok());
}

TEST(EnuSpace, binary_arrays_lie_in_the_dat_file) {
  const auto page_at = [](const string& shape, const string& position) {
    return page_json({block("Const", "c",
                            {pin("val", R"("pin-datatype": "int", "pin-save": "binary", "pin-shape": ")" + shape +
                                            R"(", "pin-binary-pos": )" + position)})});
  };
  const string dat("\0\0\0\0\1\0\0\0\2\1\0\0", 12);
  const Result<Page> page = page_from_enuspace(page_at("[2]", "4"), dat);
  ASSERT_TRUE(page.ok()) << page.status().message();
  EXPECT_EQ(test::numbers(std::get<Tensor>(attr_of(*page, "c", "value"))), "1 258");
  EXPECT_TRUE(page_from_enuspace(page_at("[3]", "\"0\""), dat).ok());
  for (const auto& [shape, position] : {std::pair("[3]", "4"),
                                        {"[1]", "12"},
                                        {"[1]", "99999999999"},
                                        {"[1]", "\"x\""},
                                        {"[1]", "-4"},
                                        {"[4611686018427387904]", "0"}})
    expect_refused(page_from_enuspace(page_at(shape, position), dat).status(), {"c", "val", ".dat"});
}

TEST(EnuSpace, values_of_typed_blocks_have_the_shape_of_their_braces) {
  const Result<Page> page = page_from_enuspace(
      page_json({block("Const_ex", "c", {typed("val", "{{1,5,21},{15,12,22}}"), typed("dtype", "DT_INT64")})}));
  ASSERT_TRUE(page.ok()) << page.status().message();
  const Tensor& tensor = std::get<Tensor>(attr_of(*page, "c", "value"));
  EXPECT_EQ(tensor.dtype(), DT_INT64);
  EXPECT_EQ(tensor.shape(), (TensorShape{2, 3}));
  EXPECT_EQ(test::numbers(tensor), "1 5 21 15 12 22");
  EXPECT_FALSE(page_from_enuspace(
                   page_json({block("Const_ex", "c", {typed("val", "{{1,5},{15}}"), typed("dtype", "DT_INT64")})}))
                   .ok());
}

TEST(EnuSpace, feeds_become_wires) {
  const Result<Page> page = page_from_enuspace(
      page_json({block("Tensor", "t", {typed("val", "{1,2}"), typed("dtype", "DT_FLOAT")}),
                 block("Input_Initializer", "i", {wired("value", "t", "tensor")}),
                 block("Placeholder", "p", {typed("dtype", "DT_FLOAT")}),
                 block("FeedType", "f", {wired("input", "p"), wired("initializer", "i", "init")}),
                 block("Add", "sum", {wired("x", "p"), wired("y", "p")}),
                 block("ClientSession", "s", {wired("FeedType", "f"), wired("fetch_outputs", "sum", "z")})}));
  ASSERT_TRUE(page.ok()) << page.status().message();
  const std::vector<Tensor> outputs = run(*page);
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(test::numbers(outputs[0]), "2 4");
}

// The defects of enuSpace, by their numbers, and what happens here.

TEST(EnuSpaceDefects, _1_fresh_3d_blocks_that_say_NHWC_are_channels_last) {
  const Result<Page> page = page_from_enuspace(volume_with_attrs("data_format_ = NHWC;"));
  ASSERT_TRUE(page.ok()) << page.status().message();
  EXPECT_EQ(std::get<string>(attr_of(*page, "y", "data_format")), "NDHWC");
  EXPECT_EQ(test::numbers(run(*page).at(0)), "6 10");
  expect_refused(page_from_enuspace(volume_with_attrs("data_format_ = NCHW;")).status(), {"y", "data_format", "NCDHW"});
}

TEST(EnuSpaceDefects, _2_dilations_are_read_and_a_misspelt_one_is_refused_unless_it_is_all_ones) {
  const Result<Page> dilated = page_from_enuspace(conv_with_attrs("dilations_ = {1,2,2,1};"));
  ASSERT_TRUE(dilated.ok()) << dilated.status().message();
  EXPECT_EQ(std::get<std::vector<int64>>(attr_of(*dilated, "y", "dilations")), (std::vector<int64>{1, 2, 2, 1}));
  const Result<Page> ones = page_from_enuspace(conv_with_attrs("dialtions_ = {1,1,1,1};"));
  ASSERT_TRUE(ones.ok()) << ones.status().message();
  EXPECT_FALSE(ones->nodes[2].attrs.contains("dilations"));
  expect_refused(page_from_enuspace(conv_with_attrs("dialtions_ = {1,2,2,1};")).status(),
                 {"y", "dilations", "dilations_ to dilate"});
}

TEST(EnuSpaceDefects, _3_too_few_and_too_many_elements_are_refused) {
  for (const char* text : {"1,2,3", "1,2,3,4,5", ""})
    expect_refused(page_from_enuspace(page_json({block("Const", "c", {value("float", "[2][2]", text)})})).status(),
                   {"c", "val", "number of elements"});
}

TEST(EnuSpaceDefects, _4_float_texts_stay_floats_and_int64_keeps_64_bits) {
  const Result<Page> page = page_from_enuspace(
      page_json({block("Const_ex", "big", {typed("val", "{9007199254740993}"), typed("dtype", "DT_INT64")}),
                 block("Const", "half", {value("float", "[1]", "0.5")})}));
  ASSERT_TRUE(page.ok()) << page.status().message();
  const std::vector<Tensor> outputs = run(*page);
  EXPECT_EQ(outputs.at(0).SummarizeValue(1), "9007199254740993");
  EXPECT_EQ(outputs.at(1).SummarizeValue(1), "0.5");
}

TEST(EnuSpaceDefects, _5_what_is_run_moves_no_label_of_what_is_fetched) {
  const Result<Page> page = page_from_enuspace(page_json(
      {kX, kW, conv({typed("strides", "1,1,1,1"), typed("padding", "SAME")}),
       block("ClientSession", "s",
             {wired("run_outputs", "x", "operation"), wired("fetch_outputs", "y"), wired("fetch_outputs", "w")})}));
  ASSERT_TRUE(page.ok()) << page.status().message();
  EXPECT_EQ(page->fetch, (std::vector<PagePin>{{"y", "output"}, {"w", "output"}, {"x", "output"}}));
}

TEST(EnuSpaceDefects, _6_every_output_of_a_block_can_be_fetched) {
  Page page =
      page_from_enuspace(page_json({kX, kW, conv({typed("strides", "1,1,1,1"), typed("padding", "SAME")})})).value();
  page.fetch.clear();
  for (const PageNode& node : page.nodes) {
    for (const PinSpec& output : find_graph_op(node.op)->outputs) page.fetch.push_back({node.id, output.name});
  }
  EXPECT_EQ(run(page).size(), 3u);
}

TEST(EnuSpaceDefects, _7_pages_with_the_same_ids_do_not_collide) {
  const string other = page_json({block("Const", "x", {value("float", "[1]", "7")})});
  const Page first = page_from_enuspace(page_json({kX})).value(), second = page_from_enuspace(other).value();
  EXPECT_EQ(test::numbers(run(first).at(0)), "1 2 3 4");
  EXPECT_EQ(run(second).at(0).SummarizeValue(1), "7");
}

TEST(EnuSpaceDefects, _8_both_images_of_a_batch_have_their_own_results) {
  const Result<Page> page =
      page_from_enuspace(page_json({block("Const", "x", {value("float", "[2][1][1][1]", "3,5")}), kW,
                                    conv({typed("strides", "1,1,1,1"), typed("padding", "VALID")})}));
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(test::numbers(run(*page).at(0)), "1.5 2.5");
}

TEST(EnuSpaceDefects, _9_types_are_known_before_anything_runs) {
  const Page page = page_from_enuspace(conv_with_attrs("")).value();
  const std::vector<NodeReport> reports = infer_page(page);
  EXPECT_EQ(reports.at(2).outputs.at(0).dtype, DT_FLOAT);
  EXPECT_EQ(reports.at(2).outputs.at(0).shape.DebugString(), "[1,2,2,1]");
}

TEST(EnuSpaceExport, comes_back_with_ops_attributes_tensors_and_wires) {
  Page page = conv_page();
  page.nodes[2].attrs["dilations"] = std::vector<int64>{1, 2, 2, 1};
  page.nodes[2].attrs["use_cudnn_on_gpu"] = false;
  page.nodes.push_back(
      {.id = "p", .op = "Placeholder", .attrs = {{"dtype", DT_BFLOAT16}, {"shape", PartialTensorShape({-1, 2})}}});
  page.nodes.push_back({.id = "sum", .op = "AddN"});
  page.nodes.push_back({.id = "session", .op = "Const", .attrs = {{"value", Tensor(DT_INT64, {2, 0})}}});
  page.nodes.push_back({.id = "nan",
                        .op = "Const",
                        .attrs = {{"value", test::floats({3}, {std::numeric_limits<float>::quiet_NaN(),
                                                               -std::numeric_limits<float>::infinity(), -0.0F})}}});
  page.edges.push_back(edge("x", "sum", "inputs:0"));
  page.edges.push_back(edge("y", "sum", "inputs:1"));
  page.edges.push_back(edge("x", "sum", "inputs:2"));
  for (PageNode& node : page.nodes) {
    if (node.op == "Const") node.attrs["dtype"] = std::get<Tensor>(node.attrs["value"]).dtype();
  }
  const Result<string> text = page_to_enuspace(page);
  ASSERT_TRUE(text.ok()) << text.status().message();
  EXPECT_TRUE(text->starts_with("\xFF\xFE"));
  const Result<Page> back = page_from_enuspace(*text);
  ASSERT_TRUE(back.ok()) << back.status().message();
  expect_same_page(*back, page);
}

TEST(EnuSpaceExport, puts_blocks_behind_those_they_read) {
  Page page = conv_page();
  std::reverse(page.nodes.begin(), page.nodes.end());
  const Page back = page_from_enuspace(page_to_enuspace(page).value()).value();
  EXPECT_EQ(back.nodes.back().id, "y");
}

TEST(EnuSpaceExport, refuses_what_enuspace_cannot_say) {
  Page page = conv_page();
  page.edges.push_back({{"x", "^"}, {"w", "^"}});
  expect_refused(page_to_enuspace(page).status(), {"w", "^", "control"});
  page = {.nodes = {{.id = "c", .op = "Const", .attrs = {{"value", Tensor(DT_HALF, {1})}}}}};
  expect_refused(page_to_enuspace(page).status(), {"c", "value", "half"});
  page = conv_page();
  page.nodes[2].attrs["padding"] = string("a;b");
  expect_refused(page_to_enuspace(page).status(), {"y", "padding", "no form"});
}

TEST(EnuspacePositions, are_those_of_the_drawing) {
  const string svg =
      "<?xml version=\"1.0\"?><svg><use id=\"ID_1\" type=\"tensorflow\" xlink:href=\"#Conv2D\" "
      "transform=\"matrix(1,0,0,1,120.6,-40)\"><pg-set-pin variable=\"#strides\"/></use>"
      "<use id='ID_2' x=\"5\" y=\"7\" transform=\"translate(10 20)\"/><polyline id=\"ID_3\"/>"
      "<use xlink:href=\"#Const\"/><use id=\"far\" transform=\"translate(1e300,0)\"/></svg>";
  for (const string& text : {svg, to_utf16(svg)}) {
    const Result<std::vector<PagePosition>> found = positions_from_enuspace(text);
    ASSERT_TRUE(found.ok()) << found.status().message();
    ASSERT_EQ(found->size(), 2u);
    EXPECT_EQ((*found)[0].node, "ID_1");
    EXPECT_EQ((*found)[0].x, 121);
    EXPECT_EQ((*found)[0].y, -40);
    EXPECT_EQ((*found)[1].node, "ID_2");
    EXPECT_EQ((*found)[1].x, 15);
    EXPECT_EQ((*found)[1].y, 27);
  }
}

TEST(EnuspacePositions, of_other_texts_are_refused) {
  for (const string& text : {string(), string("{}"), string("<html>"), string("\xFF\xFEx"), string("<svg>\xFF")})
    test::expect_refused(positions_from_enuspace(text).status(), {"", "svg", "drawing"});
  for (const char* odd : {"<svg><use", "<svg><use id=\"a", "<svg><use id=>", "<svg><use id=\"\" x=\"1\"/>"})
    EXPECT_TRUE(positions_from_enuspace(odd).value().empty()) << odd;
}

}  // namespace
}  // namespace convgrad::graph

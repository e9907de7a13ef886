// Page files: what is written, what is read, what is refused.
#include <cmath>
#include <limits>

#include "convgrad/npy.h"
#include "pages/pages.h"

namespace convgrad::graph {
namespace {

using test::Blame, test::conv_page, test::expect_refused, test::expect_same_page, test::Folder;

constexpr const char* kScene = R"({
  "convgrad": 1,
  "nodes": [
    {"id": "x", "op": "Const", "attrs": {"value": {"dtype": "float", "shape": [1, 2, 2, 1], "data": [1, 2, 3, 4]}}},
    {"id": "w", "op": "Const", "attrs": {"value": {"dtype": "float", "shape": [1, 1, 1, 1], "data": [0.5]}}},
    {"id": "y", "op": "Conv2D", "name": "half of x", "attrs": {"padding": "SAME", "strides": [1, 1, 1, 1]}}
  ],
  "edges": [
    [["x", "output"], ["y", "input"]],
    [["w", "output"], ["y", "filter"]]
  ],
  "fetch": [
    ["y", "output"]
  ],
  "view": {
    "nodes": {"x": [10, 20.5]},
    "zoom": 1.0
  }
}
)";

string with_node(const string& node) { return R"({"convgrad": 1, "nodes": [)" + node + "]}"; }
string with_value(const string& value) {
  return with_node(R"({"id": "c", "op": "Const", "attrs": {"value": )" + value + "}}");
}
Result<Tensor> value_of(const string& value) {
  const Result<Page> page = parse_page(with_value(value));
  if (!page.ok()) return page.status();
  return std::get<Tensor>(page->nodes[0].attrs.at("value"));
}

TEST(Pages, write_what_they_read_byte_by_byte) {
  const Result<Page> page = parse_page(kScene);
  ASSERT_TRUE(page.ok()) << page.status().message();
  EXPECT_EQ(page->nodes.size(), 3u);
  EXPECT_EQ(page->nodes[2].name, "half of x");
  EXPECT_EQ(std::get<std::vector<int64>>(page->nodes[2].attrs.at("strides")), (std::vector<int64>{1, 1, 1, 1}));
  EXPECT_EQ(page->fetch, (std::vector<PagePin>{{"y", "output"}}));
  EXPECT_EQ(page->view, R"({"nodes": {"x": [10, 20.5]}, "zoom": 1.0})");
  EXPECT_EQ(page_text(*page).value(), kScene);
}

TEST(Pages, of_the_examples_are_in_the_form_that_is_written) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CONVGRAD_SOURCE_DIR "/examples/graphs")) {
    const Result<Page> page = load_page(entry.path().string());
    ASSERT_TRUE(page.ok()) << page.status().message();
    EXPECT_EQ(page_text(*page).value(), test::read_bytes(entry.path())) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 7);
}

TEST(Pages, do_not_write_defaults) {
  Page page = conv_page();
  page.nodes[2].attrs["data_format"] = string("NHWC");
  page.nodes[2].attrs["dilations"] = std::vector<int64>{1, 1, 1, 1};
  page.nodes[2].attrs["T"] = DT_FLOAT;
  page.nodes[0].attrs["dtype"] = DT_FLOAT;
  EXPECT_EQ(page_text(page).value(), page_text(conv_page()).value());
}

TEST(Pages, keep_every_kind_of_attribute) {
  Page page{
      .nodes = {
          {.id = "p", .op = "Placeholder", .attrs = {{"dtype", DT_HALF}, {"shape", PartialTensorShape({-1, 3})}}},
          {.id = "q", .op = "Placeholder", .attrs = {{"dtype", DT_INT64}, {"shape", PartialTensorShape(Shape{})}}},
          {.id = "c",
           .op = "Conv2D",
           .attrs = {
               {"strides", std::vector<int64>{}}, {"padding", string("a \"b\" \n")}, {"use_cudnn_on_gpu", false}}}}};
  const string text = page_text(page).value();
  EXPECT_NE(text.find(R"("shape": [-1, 3])"), string::npos);
  expect_same_page(parse_page(text).value(), page);
}

template <class T>
void expect_elements_survive(DataType dtype, std::initializer_list<T> values) {
  Tensor tensor(dtype, TensorShape{static_cast<int64>(values.size())});
  std::copy(values.begin(), values.end(), static_cast<T*>(tensor.data()));
  const Page page{.nodes = {{.id = "c", .op = "Const", .attrs = {{"value", tensor}, {"dtype", dtype}}}}};
  const string text = page_text(page).value();
  const Result<Page> back = parse_page(text);
  ASSERT_TRUE(back.ok()) << back.status().message() << text;
  EXPECT_TRUE(same_value(back->nodes[0].attrs.at("value"), tensor)) << text;
  EXPECT_EQ(page_text(*back).value(), text);
}

TEST(Pages, keep_every_element) {
  using F = std::numeric_limits<float>;
  using D = std::numeric_limits<double>;
  expect_elements_survive<float>(DT_FLOAT, {0.1F, -0.0F, 1e30F, F::max(), F::min(), F::denorm_min(), F::infinity(),
                                            -F::infinity(), F::quiet_NaN(), 16777217.0F, 1.0F / 3});
  expect_elements_survive<double>(DT_DOUBLE, {0.1, -0.0, 1e300, D::max(), D::denorm_min(), D::infinity(),
                                              D::quiet_NaN(), 0x1p53, 0x1p53 + 2, 1.0 / 3});
  expect_elements_survive<int64>(DT_INT64, {std::numeric_limits<int64>::min(), std::numeric_limits<int64>::max(), 0});
  expect_elements_survive<int32>(DT_INT32, {std::numeric_limits<int32>::min(), std::numeric_limits<int32>::max()});
  expect_elements_survive<int16>(DT_INT16, {-32768, 32767});
  expect_elements_survive<int8>(DT_INT8, {-128, 127});
  expect_elements_survive<uint8>(DT_UINT8, {0, 255});
  expect_elements_survive<bool>(DT_BOOL, {true, false});
}

TEST(Pages, keep_every_half_and_bfloat16) {
  for (const DataType dtype : {DT_HALF, DT_BFLOAT16}) {
    Tensor tensor(dtype, TensorShape{1 << 16});
    auto* bits = static_cast<std::uint16_t*>(tensor.data());
    for (int i = 0; i < 1 << 16; ++i) {
      bits[i] = static_cast<std::uint16_t>(i);
    }
    const Page page{.nodes = {{.id = "c", .op = "Const", .attrs = {{"value", tensor}, {"dtype", dtype}}}}};
    EXPECT_TRUE(same_value(parse_page(page_text(page).value())->nodes[0].attrs.at("value"), tensor))
        << DataTypeString(dtype);
  }
}

TEST(Pages, keep_the_bits_of_nans) {
  expect_elements_survive<std::uint32_t>(DT_FLOAT, {0x7fc00000U, 0xffc00000U, 0x7f800001U, 0x7fffffffU});
  expect_elements_survive<std::uint64_t>(DT_DOUBLE, {0x7ff8000000000000U, 0xfff8000000000001U, 0x7ff0000000000001U});
  for (const char* text : {"NaN(0x0)", "NaN(0x7fc00001", "NaN(0x17fc00001)", "NaN(0x)", "NaN(0x7fc00001)x"})
    EXPECT_FALSE(value_of(R"({"dtype": "float", "shape": [1], "data": [")" + string(text) + "\"]}").ok()) << text;
}

TEST(Pages, write_few_digits) {
  EXPECT_NE(page_text({.nodes = {test::constant("c", {0.1F, 3, 1e-7F})}}).value().find("[0.1, 3, 1e-07]"),
            string::npos);
}

TEST(Pages, refuse_elements_that_do_not_fit) {
  EXPECT_TRUE(value_of(R"({"dtype": "int8", "shape": [2], "data": [-128, 127]})").ok());
  for (const char* value :
       {R"({"dtype": "int8", "shape": [1], "data": [128]})", R"({"dtype": "int32", "shape": [1], "data": [1.5]})",
        R"({"dtype": "float", "shape": [1], "data": [1e39]})", R"({"dtype": "half", "shape": [1], "data": [65520]})",
        R"({"dtype": "float", "shape": [1], "data": ["1"]})", R"({"dtype": "float", "shape": [1], "data": [true]})",
        R"({"dtype": "bool", "shape": [1], "data": [1]})", R"({"dtype": "float", "shape": [1], "data": [[1]]})"})
    expect_refused(value_of(value).status(), {"c", "value", "line 1"});
}

TEST(Pages, refuse_another_number_of_elements_than_the_shape_has) {
  for (const char* shape : {"[3]", "[]", "[2, 2]", "[-2]", "[4611686018427387904, 4]", "[0]"})
    expect_refused(value_of(R"({"dtype": "float", "data": [1, 2], "shape": )" + string(shape) + "}").status(),
                   {"c", "value", "2 elements"});
}

TEST(Pages, refuse_tensors_of_another_form) {
  for (const char* value :
       {"1", "[1]", "{}", R"({"dtype": "float", "shape": [1]})", R"({"dtype": "text", "shape": [1], "data": [1]})",
        R"({"dtype": "float", "shape": [1], "data": [1], "npy": "a.npy"})",
        R"({"dtype": "float", "shape": [1], "date": [1]})"})
    expect_refused(value_of(value).status(), {"c", "value", "cannot be read"});
}

TEST(Pages, refuse_what_is_no_page) {
  const std::pair<const char*, Blame> cases[] = {
      {"[]", {"", "page", "an object"}},
      {"{}", {"", "convgrad", "no page"}},
      {R"({"convgrad": 2, "nodes": []})", {"", "convgrad", "another version"}},
      {R"({"convgrad": 1})", {"", "nodes", "no \"nodes\""}},
      {R"({"convgrad": 1, "nodes": {}})", {"", "nodes", "a list"}},
      {R"({"convgrad": 1, "nodes": [], "edge": []})", {"", "edge", "did you mean 'edges'?"}},
      {R"({"convgrad": 1, "nodes": [1]})", {"", "nodes", "objects"}},
      {R"({"convgrad": 1, "nodes": [{"op": "Add"}]})", {"", "id", "no id"}},
      {R"({"convgrad": 1, "nodes": [{"id": "", "op": "Add"}]})", {"", "id", "no id"}},
      {R"({"convgrad": 1, "nodes": [{"id": "a"}]})", {"a", "op", "no op"}},
      {R"({"convgrad": 1, "nodes": [{"id": "a", "op": "Conv2d"}]})", {"a", "op", "did you mean 'Conv2D'?"}},
      {R"({"convgrad": 1, "nodes": [{"id": "a", "op": "Add", "nmae": "b"}]})", {"a", "nmae", "did you mean 'name'?"}},
      {R"({"convgrad": 1, "nodes": [{"id": "a", "op": "Conv2D", "attrs": {"stride": [1]}}]})",
       {"a", "stride", "did you mean 'strides'?"}},
      {R"({"convgrad": 1, "nodes": [{"id": "a", "op": "Conv2D", "attrs": {"T": "float"}}]})",
       {"a", "T", "decided by the inputs"}},
      {R"({"convgrad": 1, "nodes": [{"id": "a", "op": "Conv2D", "attrs": {"strides": "1,1,1,1"}}]})",
       {"a", "strides", "a list of integers"}},
      {R"({"convgrad": 1, "nodes": [{"id": "a", "op": "Conv2D", "attrs": {"strides": [1.0]}}]})",
       {"a", "strides", "a list of integers"}},
      {R"({"convgrad": 1, "nodes": [{"id": "a", "op": "Conv2D", "attrs": {"padding": 1}}]})",
       {"a", "padding", "a string"}},
      {R"({"convgrad": 1, "nodes": [{"id": "a", "op": "Conv2D", "attrs": {"use_cudnn_on_gpu": 1}}]})",
       {"a", "use_cudnn_on_gpu", "true or false"}},
      {R"({"convgrad": 1, "nodes": [{"id": "a", "op": "Placeholder", "attrs": {"dtype": "flaot"}}]})",
       {"a", "dtype", "element type"}},
      {R"({"convgrad": 1, "nodes": [{"id": "a", "op": "Placeholder", "attrs": {"shape": [-2]}}]})",
       {"a", "shape", "a list of sizes"}},
      {R"({"convgrad": 1, "nodes": [], "edges": [["a", "b"]]})", {"", "edges", "[node, pin]"}},
      {R"({"convgrad": 1, "nodes": [], "edges": [[["a", "b"]]]})", {"", "edges", "[node, pin]"}},
      {R"({"convgrad": 1, "nodes": [], "fetch": [["a"]]})", {"", "fetch", "[node, pin]"}},
      {R"({"convgrad": 1, "nodes": [], "fetch": [["a", 0]]})", {"", "fetch", "strings"}},
  };
  for (const auto& [text, blame] : cases) expect_refused(parse_page(text).status(), blame);
}

TEST(Pages, may_be_unfinished) {
  const Result<Page> page =
      parse_page(R"({"convgrad": 1, "nodes": [{"id": "a", "op": "Conv2D"}], "edges": [[["b", "x"], ["a", "y"]]]})");
  ASSERT_TRUE(page.ok()) << page.status().message();
  EXPECT_FALSE(build_page(*page).ok());
}

TEST(Pages, refuse_to_write_what_is_no_utf8) {
  Page page = conv_page();
  page.nodes[0].name = "\xFF";
  expect_refused(page_text(page).status(), {"", "page", "not UTF-8"});
  page = conv_page();
  page.view = "{";
  EXPECT_FALSE(page_text(page).ok());
}

TEST(PageFolders, hold_large_tensors_and_pages_small_ones) {
  const Folder folder;
  Page page{
      .nodes = {
          {.id = "large one/é", .op = "Const", .attrs = {{"value", Tensor(DT_FLOAT, {5, 13})}, {"dtype", DT_FLOAT}}},
          {.id = "small", .op = "Const", .attrs = {{"value", Tensor(DT_INT32, {64})}, {"dtype", DT_INT32}}}}};
  std::get<Tensor>(page.nodes[0].attrs["value"]).flat<float>().setRandom();
  ASSERT_TRUE(save_page(page, folder / "page.json").ok());
  EXPECT_TRUE(std::filesystem::exists(folder / "large%20one%2F%C3%A9.npy"));
  EXPECT_FALSE(std::filesystem::exists(folder / "small.npy"));
  const Result<Page> back = load_page(folder / "page.json");
  ASSERT_TRUE(back.ok()) << back.status().message();
  expect_same_page(*back, page);
  EXPECT_EQ(page_text(*back, {folder.path()}).value(), test::read_bytes(folder / "page.json"));
}

TEST(PageFolders, are_not_left) {
  const Folder folder;
  std::filesystem::create_directories(folder / "in");
  ASSERT_TRUE(write_npy(folder / "x.npy", Tensor(DT_FLOAT, {1})).ok());
  std::filesystem::create_symlink(folder / "x.npy", folder / "in/link.npy");
  const auto parse = [&](const string& name) {
    return parse_page(with_value(R"({"dtype": "float", "shape": [1], "npy": ")" + name + "\"}"), {folder / "in"})
        .status();
  };
  for (const char* name : {"../x.npy", "/etc/x.npy", "a/x.npy", "a\\\\x.npy", "..npy", ".npy", "C:x.npy", "x.txt", "",
                           "a\\u0000.npy", "link.npy", "none.npy"}) {
    const convgrad::Status status = parse(name);
    ASSERT_FALSE(status.ok()) << name;
    EXPECT_EQ(status.node(), "c");
  }
  ASSERT_TRUE(write_npy(folder / "in/x.npy", Tensor(DT_FLOAT, {1})).ok());
  EXPECT_TRUE(parse("x.npy").ok()) << parse("x.npy").message();
}

TEST(PageFolders, are_not_replaced_by_links_when_writing) {
  const Folder folder;
  test::write_bytes(folder / "precious", "as it was");
  std::filesystem::create_symlink(folder / "precious", folder / "c.npy");
  const Page page{.nodes = {{.id = "c", .op = "Const", .attrs = {{"value", Tensor(DT_FLOAT, {65})}}}}};
  ASSERT_TRUE(save_page(page, folder / "page.json").ok());
  EXPECT_EQ(test::read_bytes(folder / "precious"), "as it was");
}

TEST(PageFolders, refuse_a_file_of_another_tensor) {
  const Folder folder;
  ASSERT_TRUE(write_npy(folder / "x.npy", Tensor(DT_FLOAT, {2})).ok());
  for (const char* rest : {R"("dtype": "float", "shape": [3])", R"("dtype": "int32", "shape": [2])"})
    expect_refused(parse_page(with_value(R"({"npy": "x.npy", )" + string(rest) + "}"), {folder.path()}).status(),
                   {"c", "value", "another tensor"});
}

TEST(PageFolders, are_needed_for_files) {
  EXPECT_FALSE(value_of(R"({"dtype": "float", "shape": [1], "npy": "x.npy"})").ok());
  EXPECT_FALSE(load_page("/none/such.json").ok());
  EXPECT_FALSE(load_page("/tmp").ok());
}

TEST(ElementText, has_the_fewest_digits) {
  const Tensor tensor = test::floats({5}, {0.1F, 1e30F, -0.0F, 121040, 16777216.0F * 16777216.0F});
  string all;
  for (int64 i = 0; i < 5; ++i) all += element_text(tensor, i) + " ";
  EXPECT_EQ(all, "0.1 1e+30 -0.0 121040 281474976710656 ");
  Tensor odd(DT_BFLOAT16, {2});
  odd.flat<bfloat16>().setValues({bfloat16::from(0.1F), bfloat16::from(std::numeric_limits<float>::quiet_NaN())});
  EXPECT_EQ(element_text(odd, 0), "0.1");
  EXPECT_EQ(element_text(odd, 1), "NaN");
  EXPECT_EQ(element_text(Tensor(true), 0), "true");
  EXPECT_EQ(element_text(Tensor(std::numeric_limits<int64>::min()), 0), "-9223372036854775808");
}

}  // namespace
}  // namespace convgrad::graph

// Pages as programs: C++ is compiled and run.
#include <cstdlib>

#include "convgrad/conv.h"
#include "convgrad/graph.h"
#include "pages/pages.h"

namespace convgrad::graph {
namespace {

using test::Blame, test::conv_page, test::edge, test::expect_refused, test::Folder;

// What the program prints, or what the compiler says.
string compiled_and_run(const string& code) {
  const Folder folder;
  test::write_bytes(folder / "page.cc", code);
  const string compile = PROGRAM_COMPILER " " + (folder / "page.cc") + " " PROGRAM_LIBRARY " -lpthread -o " +
                         (folder / "page") + " 2> " + (folder / "errors");
  if (std::system(compile.c_str()) != 0) return test::read_bytes(folder / "errors");
  string emulator = PROGRAM_EMULATOR;
  std::replace(emulator.begin(), emulator.end(), ';', ' ');
  EXPECT_EQ(std::system((emulator + " " + (folder / "page") + " > " + (folder / "output")).c_str()), 0);
  return test::read_bytes(folder / "output");
}

string printed(const Page& page) {
  const PageGraph built = build_page(page).value();
  std::vector<Tensor> outputs;
  const Status status = ClientSession(built.scope).Run(built.fetch, &outputs);
  if (!status.ok()) return status.ToString();
  string text;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Output& fetch = built.fetch[i];
    text += fetch.node()->name() + ":" + fetch.node()->op().outputs[static_cast<std::size_t>(fetch.index())].name +
            " " + outputs[i].DebugString(outputs[i].NumElements()) + "\n";
  }
  return text;
}

template <class T>
PageNode typed(const string& id, DataType dtype, std::initializer_list<T> values) {
  Tensor tensor(dtype, TensorShape{static_cast<int64>(values.size())});
  std::copy(values.begin(), values.end(), static_cast<T*>(tensor.data()));
  return {.id = id, .op = "Const", .attrs = {{"value", tensor}}};
}

// Every element type, names that are none in C++, lists, control wires, attributes of every kind.
Page odd_page() {
  Page page = load_page(CONVGRAD_SOURCE_DIR "/examples/graphs/gradients_of_conv3d.json").value();
  page.nodes.push_back(typed<double>("int", DT_DOUBLE, {0.1, -0.0, 1e300, std::numeric_limits<double>::infinity()}));
  page.nodes.push_back(typed<float>("a b", DT_FLOAT, {0.1F, std::numeric_limits<float>::quiet_NaN()}));
  page.nodes.push_back(typed<float>("a.b", DT_FLOAT, {16777216, -std::numeric_limits<float>::infinity()}));
  page.nodes.push_back(typed<Half>("\"\\?\?/\n*/é", DT_HALF, {Half::from(0.1F), Half::from(-2.0F)}));
  page.nodes.push_back(typed<BFloat16>("9", DT_BFLOAT16, {BFloat16::from(3.0F), BFloat16::from(3.0F)}));
  page.nodes.push_back(
      typed<int64>("root", DT_INT64, {std::numeric_limits<int64>::min(), std::numeric_limits<int64>::max()}));
  page.nodes.push_back(typed<int32>("__x", DT_INT32, {std::numeric_limits<int32>::min(), 7}));
  page.nodes.push_back(typed<int16>("class", DT_INT16, {-32768, 5}));
  page.nodes.push_back(typed<int8>("ops", DT_INT8, {-128, 5}));
  page.nodes.push_back(typed<uint8>("std", DT_UINT8, {255, 5}));
  page.nodes.push_back(typed<bool>("main", DT_BOOL, {true, false}));
  page.nodes.push_back({.id = "empty", .op = "Const", .attrs = {{"value", Tensor(DT_FLOAT, {0, 3})}}});
  page.nodes.push_back({.id = "scalar", .op = "Const", .attrs = {{"value", Tensor(2.5F)}}});
  page.nodes.push_back({.id = "sum", .op = "AddN"});
  page.nodes.push_back(
      {.id = "fed", .op = "Placeholder", .attrs = {{"dtype", DT_FLOAT}, {"shape", PartialTensorShape({-1, 2})}}});
  page.nodes.push_back({.id = "logits", .op = "Const", .attrs = {{"value", test::floats({1, 2}, {1, 3})}}});
  page.nodes.push_back({.id = "loss", .op = "SoftmaxCrossEntropyWithLogits"});  // has two outputs
  page.nodes.push_back({.id = "axis", .op = "Const", .attrs = {{"value", Tensor(int32{1})}}});
  page.nodes.push_back({.id = "total", .op = "Sum", .attrs = {{"keep_dims", true}}});
  page.edges.push_back(edge("logits", "loss", "features"));
  page.edges.push_back(edge("logits", "loss", "labels"));
  page.edges.push_back(edge("loss", "total", find_graph_op("Sum")->inputs[0].name, "backprop"));
  page.edges.push_back(edge("axis", "total", find_graph_op("Sum")->inputs[1].name));
  page.edges.push_back(edge("a b", "sum", "inputs:0"));
  page.edges.push_back(edge("a.b", "sum", "inputs:1"));
  page.edges.push_back({{"y", "^"}, {"sum", "^"}});
  page.fetch.clear();
  return page;
}

TEST(PageCode, of_the_graph_api_compiles_and_gives_the_same_numbers) {
  const Page page = odd_page();
  const Result<string> code = page_code(page, CodeStyle::cpp_graph);
  ASSERT_TRUE(code.ok()) << code.status().message();
  Page fed = page;  // the program feeds zeros
  for (PageNode& node : fed.nodes) {
    if (node.op == "Placeholder") node = {.id = node.id, .op = "Const", .attrs = {{"value", Tensor(DT_FLOAT, {1, 2})}}};
  }
  EXPECT_EQ(compiled_and_run(*code), printed(fed)) << *code;
}

TEST(PageCode, of_eager_calls_compiles_and_gives_the_same_numbers) {
  Page page = load_page(CONVGRAD_SOURCE_DIR "/examples/graphs/conv3d_backprop_filter_v2.json").value();
  const PageNode forward = page.nodes[2];
  page.nodes.push_back({.id = "conv3d", .op = "Conv3D", .attrs = forward.attrs});
  page.nodes.back().attrs["dilations"] = std::vector<int64>{1, 2, 1, 1, 1};
  page.nodes.back().attrs["padding"] = string("EXPLICIT");
  page.nodes.back().attrs["explicit_paddings"] = std::vector<int64>{0, 0, 1, 1, 0, 1, 0, 0, 0, 0};
  page.edges.push_back(edge("input", "conv3d", "input"));
  page.edges.push_back(edge("filter", "conv3d", "filter"));
  page.fetch.push_back({"conv3d", "output"});
  const Result<string> code = page_code(page, CodeStyle::cpp_eager);
  ASSERT_TRUE(code.ok()) << code.status().message();
  const PageGraph built = build_page(page).value();
  std::vector<Tensor> outputs;
  ASSERT_TRUE(ClientSession(built.scope).Run(built.fetch, &outputs).ok());
  string expected;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    expected +=
        page.fetch[i].node + ":output " + contiguous_copy(*outputs[i].view())->to_text(outputs[i].NumElements()) + "\n";
  EXPECT_EQ(compiled_and_run(*code), expected) << *code;
}

TEST(PageCode, of_eager_calls_refuses_ops_without_one) {
  Page page = conv_page();
  page.nodes.push_back({.id = "same", .op = "Identity"});
  page.edges.push_back(edge("y", "same", "input"));
  page.fetch = {{"same", "output"}};
  expect_refused(page_code(page, CodeStyle::cpp_eager).status(), {"same", "op", "no eager call for Identity"});
}

TEST(PageCode, of_python_says_what_the_page_says) {
  Page page = conv_page();
  page.nodes[2].attrs["use_cudnn_on_gpu"] = false;
  page.nodes[2].attrs["dilations"] = std::vector<int64>{1, 2, 2, 1};
  page.nodes[2].id = page.edges[0].to.node = page.edges[1].to.node = page.fetch[0].node = "lambda";
  EXPECT_EQ(
      page_code(page, CodeStyle::python_convgrad).value(),
      "# Made from a page of convgrad.\nimport numpy as np\nfrom convgrad import raw_ops\n\n"
      "x = np.array([1, 2, 3, 4], dtype=np.float32).reshape([1, 2, 2, 1])\n"
      "w = np.full([1, 1, 1, 1], 0.5, dtype=np.float32)\n"
      "lambda_node = raw_ops.Conv2D(input=x, filter=w, strides=[1, 1, 1, 1], padding=\"SAME\", use_cudnn_on_gpu=False, "
      "dilations=[1, 2, 2, 1])\n"
      "print(\"lambda:output\", lambda_node)\n");
  EXPECT_EQ(page_code(page, CodeStyle::python_tensorflow).value(),
            "# Made from a page of convgrad.\nimport tensorflow as tf\n\n"
            "x = tf.constant([1, 2, 3, 4], dtype=tf.float32, shape=[1, 2, 2, 1])\n"
            "w = tf.constant(0.5, dtype=tf.float32, shape=[1, 1, 1, 1])\n"
            "lambda_node = tf.raw_ops.Conv2D(input=x, filter=w, strides=[1, 1, 1, 1], padding=\"SAME\", "
            "use_cudnn_on_gpu=False, dilations=[1, 2, 2, 1])\n"
            "print(\"lambda:output\", lambda_node)\n");
}

// Names that could end a string or a comment, or are words of the language.
TEST(PageCode, of_python_is_python) {
  if (std::system("python3 -c pass > /dev/null 2>&1") != 0) GTEST_SKIP() << "no python3";
  const Folder folder;
  for (const CodeStyle style : {CodeStyle::python_convgrad, CodeStyle::python_tensorflow}) {
    test::write_bytes(folder / "page.py", page_code(odd_page(), style).value());
    EXPECT_EQ(std::system(
                  ("python3 -c 'import ast,sys; ast.parse(open(sys.argv[1]).read())' " + (folder / "page.py")).c_str()),
              0);
  }
}

TEST(PageCode, of_tensorflow_refuses_what_tensorflow_has_not) {
  Page page = load_page(CONVGRAD_SOURCE_DIR "/examples/graphs/conv3d.json").value();
  PageNode& forward = page.nodes.back();
  forward.attrs["padding"] = string("EXPLICIT");
  forward.attrs["explicit_paddings"] = std::vector<int64>{0, 0, 1, 1, 1, 1, 1, 1, 0, 0};
  const string ours = page_code(page, CodeStyle::python_convgrad).value();
  EXPECT_NE(ours.find("from convgrad import nn, raw_ops\n"), string::npos) << ours;
  EXPECT_NE(ours.find("padding=[[0, 0], [1, 1], [1, 1], [1, 1], [0, 0]]"), string::npos) << ours;
  expect_refused(page_code(page, CodeStyle::python_tensorflow).status(), {"forward", "op", "no explicit paddings"});
}

TEST(PageCode, of_graphviz_draws_wrong_pages_too) {
  Page page = conv_page();
  page.nodes[0].id = "a \"b\" \\";
  const string code = page_code(page, CodeStyle::graphviz).value();
  EXPECT_NE(code.find("\"a \\\"b\\\" \\\\\" [label=\"a \\\"b\\\" \\\\\\nConst\\nfloat [1,2,2,1]\"];"), string::npos)
      << code;
  EXPECT_NE(code.find("color=red"), string::npos) << code;
  EXPECT_NE(code.find("\"w\" -> \"y\" [label=\"filter\"];"), string::npos) << code;
}

TEST(PageCode, refuses_wrong_pages_and_large_tensors) {
  Page page = conv_page();
  page.edges.pop_back();
  expect_refused(page_code(page, CodeStyle::cpp_graph).status(), {"y", "filter", "not wired"});
  EXPECT_FALSE(page_code({}, CodeStyle::cpp_graph).ok());
  Tensor large(DT_FLOAT, {100000});
  page = {.nodes = {{.id = "c", .op = "Const", .attrs = {{"value", large}}}}};
  EXPECT_TRUE(page_code(page, CodeStyle::cpp_graph).ok());  // all the same
  large.flat<float>()(1) = 1;
  expect_refused(page_code(page, CodeStyle::cpp_graph).status(), {"c", "value", "too large"});
}

}  // namespace
}  // namespace convgrad::graph

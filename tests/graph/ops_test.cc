// Every op's values by hand, in every type that it takes.
#include "one_op.h"

namespace convgrad::graph {
namespace {

using test::expect_near;
using test::numbers;
using test::Ran;
using test::run_op;
using test::tensor;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Elements in the op's type, or integers that are sizes, axes or a permutation.
struct Arg {
  Shape shape;
  std::vector<double> elements;
  bool of_type = true;
};
Arg list(std::vector<double> elements) { return {{static_cast<int64>(elements.size())}, std::move(elements), false}; }

struct Case {
  const char* op;
  std::vector<Arg> inputs;
  AttrMap attrs;
  Shape shape;
  std::vector<double> wanted;
  double half_steps = 1;  // above 1 where the exact value is no number of the type and double does not hide it
};

std::vector<Tensor> inputs_of(const Case& c, DataType dtype) {
  std::vector<Tensor> inputs;
  for (const Arg& arg : c.inputs) inputs.push_back(tensor(arg.shape, arg.elements, arg.of_type ? dtype : DT_INT32));
  return inputs;
}

void expect_case(const Case& c) {
  const AttrSpec* types = find_graph_op(c.op)->attr("T");
  ASSERT_NE(types, nullptr) << c.op;
  for (DataType dtype : types->types) {
    SCOPED_TRACE(string(c.op) + " of " + DataTypeString(dtype));
    const Ran ran = run_op(c.op, inputs_of(c, dtype), c.attrs);
    ASSERT_TRUE(ran.status.ok()) << ran.status.message();
    EXPECT_EQ(ran.outputs[0].dtype(), dtype);
    EXPECT_EQ(ran.outputs[0].shape().dim_sizes(), c.shape);
    expect_near(ran.outputs[0], c.wanted, c.half_steps);
  }
}

const Arg kGrid{{2, 3}, {1, -2, 3, 4, 5, -6}};

TEST(Ops, of_elements) {
  const Case cases[] = {
      {"Identity", {kGrid}, {}, {2, 3}, kGrid.elements},
      {"OnesLike", {kGrid}, {}, {2, 3}, {1, 1, 1, 1, 1, 1}},
      {"ZerosLike", {kGrid}, {}, {2, 3}, {0, 0, 0, 0, 0, 0}},
      {"Square", {kGrid}, {}, {2, 3}, {1, 4, 9, 16, 25, 36}},
      {"Neg", {kGrid}, {}, {2, 3}, {-1, 2, -3, -4, -5, 6}},
      {"Relu", {kGrid}, {}, {2, 3}, {1, 0, 3, 4, 5, 0}},
      {"ReluGrad", {{{4}, {7, 8, 9, 10}}, {{4}, {1, 0, -1, 2}}}, {}, {4}, {7, 0, 0, 10}},
      {"AddN", {kGrid, kGrid, kGrid}, {}, {2, 3}, {3, -6, 9, 12, 15, -18}},
      {"Relu", {{{0, 3}, {}}}, {}, {0, 3}, {}},
      {"Sigmoid", {{{3}, {0, 1000, -1000}}}, {}, {3}, {0.5, 1, 0}},
  };
  for (const Case& c : cases) expect_case(c);
}

TEST(Ops, broadcast) {
  const Case cases[] = {
      {"Add", {kGrid, {{3}, {10, 20, 30}}}, {}, {2, 3}, {11, 18, 33, 14, 25, 24}},
      {"AddV2", {{{2, 1}, {1, 2}}, {{1, 3}, {10, 20, 30}}}, {}, {2, 3}, {11, 21, 31, 12, 22, 32}},
      {"Sub", {kGrid, {{2, 1}, {1, 2}}}, {}, {2, 3}, {0, -3, 2, 2, 3, -8}},
      {"Sub", {{{}, {10}}, kGrid}, {}, {2, 3}, {9, 12, 7, 6, 5, 16}},
      {"Mul", {kGrid, {{1, 1, 3}, {1, 2, 3}}}, {}, {1, 2, 3}, {1, -4, 9, 4, 10, -18}},
      {"Mul", {{{0, 3}, {}}, {{3}, {1, 2, 3}}}, {}, {0, 3}, {}},
      {"Mul", {{{2, 1, 2}, {1, 2, 3, 4}}, {{3, 1}, {1, 2, 3}}}, {}, {2, 3, 2}, {1, 2, 2, 4, 3, 6, 3, 4, 6, 8, 9, 12}},
      {"SumToShapeOf", {kGrid, {{3}, {0, 0, 0}}}, {}, {3}, {5, 3, -3}},
      {"SumToShapeOf", {kGrid, {{2, 1}, {0, 0}}}, {}, {2, 1}, {2, 3}},
      {"SumToShapeOf", {kGrid, {{}, {0}}}, {}, {}, {5}},
      {"SumToShapeOf", {kGrid, kGrid}, {}, {2, 3}, kGrid.elements},
      {"BroadcastToShapeOf", {{{3}, {1, 2, 3}}, kGrid}, {}, {2, 3}, {1, 2, 3, 1, 2, 3}},
      {"BroadcastToShapeOf", {{{2, 1}, {1, 2}}, kGrid}, {}, {2, 3}, {1, 1, 1, 2, 2, 2}},
      {"BroadcastToShapeOf", {{{1}, {1}}, {{0, 2}, {}}}, {}, {0, 2}, {}},
  };
  for (const Case& c : cases) expect_case(c);
}

TEST(Ops, of_shapes) {
  const Case cases[] = {
      {"Reshape", {kGrid, list({3, 2})}, {}, {3, 2}, kGrid.elements},
      {"Reshape", {kGrid, list({-1})}, {}, {6}, kGrid.elements},
      {"Reshape", {kGrid, list({2, 1, -1})}, {}, {2, 1, 3}, kGrid.elements},
      {"Reshape", {{{1, 1}, {5}}, list({})}, {}, {}, {5}},
      {"Reshape", {{{0, 3}, {}}, list({3, -1})}, {}, {3, 0}, {}},
      {"Reshape", {{{0, 3}, {}}, list({0, 7})}, {}, {0, 7}, {}},
      {"Transpose", {kGrid, list({1, 0})}, {}, {3, 2}, {1, 4, -2, 5, 3, -6}},
      {"Transpose", {{{2, 1, 3}, kGrid.elements}, list({2, 0, 1})}, {}, {3, 2, 1}, {1, 4, -2, 5, 3, -6}},
      {"Transpose", {{{}, {4}}, list({})}, {}, {}, {4}},
      {"Transpose", {{{3, 0}, {}}, list({1, 0})}, {}, {0, 3}, {}},
  };
  for (const Case& c : cases) expect_case(c);
}

TEST(Ops, that_reduce) {
  const Arg pairs{{2, 2, 2}, {1, 3, 5, 7, 2, 4, 6, 8}};
  const Case cases[] = {
      {"Sum", {kGrid, list({0})}, {}, {3}, {5, 3, -3}},
      {"Sum", {kGrid, list({-1})}, {{"keep_dims", true}}, {2, 1}, {2, 3}},
      {"Sum", {kGrid, list({1, 0})}, {}, {}, {5}},
      {"Sum", {kGrid, list({})}, {}, {2, 3}, kGrid.elements},
      {"Sum", {kGrid, {{}, {-2}, false}}, {}, {3}, {5, 3, -3}},
      {"Sum", {{{0, 2}, {}}, list({0})}, {}, {2}, {0, 0}},
      {"Mean", {pairs, list({2})}, {}, {2, 2}, {2, 6, 3, 7}},
      {"Mean", {{{2, 2, 2}, {1, 3, 5, 7, 3, 5, 7, 9}}, list({0, -1})}, {{"keep_dims", true}}, {1, 2, 1}, {3, 7}},
      {"SumGrad", {{{3}, {1, 2, 3}}, kGrid, list({0})}, {}, {2, 3}, {1, 2, 3, 1, 2, 3}},
      {"SumGrad", {{{2, 1}, {1, 2}}, kGrid, list({-1})}, {{"keep_dims", true}}, {2, 3}, {1, 1, 1, 2, 2, 2}},
      {"MeanGrad", {{{2, 2}, {2, 4, 6, 8}}, pairs, list({2})}, {}, {2, 2, 2}, {1, 1, 2, 2, 3, 3, 4, 4}},
  };
  for (const Case& c : cases) expect_case(c);
  expect_case({"L2Loss", {kGrid}, {}, {}, {45.5}});
  expect_case({"L2Loss", {{{0}, {}}}, {}, {}, {0}});
}

TEST(Ops, of_means_of_integers_and_of_nothing) {
  expect_near(run_op("Mean", {tensor({2, 2}, {1, 2, -1, -2}, DT_INT64), numbers({1})}).outputs.at(0), {1, -1});
  expect_near(run_op("Mean", {tensor({0}, {}, DT_FLOAT), numbers({0})}).outputs.at(0), {kNaN});
  expect_near(run_op("Mean", {tensor({0}, {}, DT_INT32), numbers({0})}).outputs.at(0), {0});
}

TEST(Ops, of_bias) {
  const Arg image{{1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}}, bias{{2}, {10, 20}};
  const AttrMap first = {{"data_format", string("NCHW")}};
  const Case cases[] = {
      {"BiasAdd", {image, bias}, {}, {1, 2, 2, 2}, {11, 22, 13, 24, 15, 26, 17, 28}},
      {"BiasAdd", {image, bias}, first, {1, 2, 2, 2}, {11, 12, 13, 14, 25, 26, 27, 28}},
      {"BiasAdd", {{{2, 2}, {1, 2, 3, 4}}, bias}, {}, {2, 2}, {11, 22, 13, 24}},
      {"BiasAdd", {{{2, 2}, {1, 2, 3, 4}}, bias}, first, {2, 2}, {11, 22, 13, 24}},
      {"BiasAdd", {{{1, 2, 1, 2, 1}, {1, 2, 3, 4}}, bias}, first, {1, 2, 1, 2, 1}, {11, 12, 23, 24}},
      {"BiasAdd", {{{0, 2}, {}}, bias}, {}, {0, 2}, {}},
      {"BiasAddGrad", {image}, {}, {2}, {16, 20}},
      {"BiasAddGrad", {image}, first, {2}, {10, 26}},
      {"BiasAddGrad", {{{0, 2}, {}}}, {}, {2}, {0, 0}},
  };
  for (const Case& c : cases) expect_case(c);
}

TEST(Ops, of_softmax) {
  const double l2 = std::log(2.0), l3 = std::log(3.0);
  const Arg halves{{2, 2}, {0, 0, 1, 1}};
  const Case cases[] = {
      {"Softmax", {halves}, {}, {2, 2}, {0.5, 0.5, 0.5, 0.5}},
      {"Softmax", {{{3}, {200, 200, 200}}}, {}, {3}, {1 / 3., 1 / 3., 1 / 3.}, 2},
      {"Softmax", {{{2, 0}, {}}}, {}, {2, 0}, {}},
      {"Softmax", {{{2}, {1, kNaN}}}, {}, {2}, {kNaN, kNaN}},
      {"LogSoftmax", {{{2}, {3, 3}}}, {}, {2}, {-l2, -l2}, 2},
      {"LogSoftmax", {{{3}, {0, 0, 0}}}, {}, {3}, {-l3, -l3, -l3}, 2},
      {"LogSoftmax", {{{2}, {0, -1000}}}, {}, {2}, {0, -1000}},
      {"SoftmaxCrossEntropyWithLogits", {halves, {{2, 2}, {1, 0, 0.25, 0.75}}}, {}, {2}, {l2, l2}, 2},
      {"SoftmaxCrossEntropyWithLogits", {{{2, 0}, {}}, {{2, 0}, {}}}, {}, {2}, {0, 0}},
      {"SoftmaxCrossEntropyWithLogits", {{{0, 2}, {}}, {{0, 2}, {}}}, {}, {0}, {}},
  };
  for (const Case& c : cases) expect_case(c);
  const Ran ran =
      run_op("SoftmaxCrossEntropyWithLogits", {tensor({1, 2}, {5, 5}, DT_FLOAT), tensor({1, 2}, {1, 0}, DT_FLOAT)});
  expect_near(ran.outputs.at(1), {-0.5, 0.5});
}

TEST(Ops, cast_between_all_types) {
  for (DataType from : find_graph_op("Cast")->attr("SrcT")->types) {
    for (DataType to : find_graph_op("Cast")->attr("DstT")->types) {
      const Ran ran = run_op("Cast", {tensor({3}, {1, -2, 100}, from)}, {{"DstT", to}});
      ASSERT_TRUE(ran.status.ok()) << ran.status.message();
      EXPECT_EQ(ran.outputs[0].dtype(), to);
      expect_near(ran.outputs[0], {1, -2, 100});
    }
  }
  expect_near(run_op("Cast", {tensor({4}, {2.75, -2.75, kNaN, 1e30})}, {{"DstT", DT_INT32}}).outputs.at(0),
              {2, -2, 0, 2147483647});
  expect_near(run_op("Cast", {tensor({2}, {1 + 0x1p-11, 1 + 3 * 0x1p-11})}, {{"DstT", DT_HALF}}).outputs.at(0),
              {1, 1 + 0x1p-9});  // ties to even
}

Tensor truncated(DataType from, const std::vector<double>& values, DataType to) {
  const Tensor x = tensor({static_cast<int64>(values.size())}, values, from);
  return run_op("Cast", {x}, {{"DstT", to}, {"Truncate", true}}).outputs.at(0);
}

TEST(Ops, cast_truncates_when_asked) {
  const std::vector<double> x = {1 + 0x1.8p-10, -1 - 0x1.8p-10, 65535, 65536, kInf, kNaN};
  for (DataType from : {DT_FLOAT, DT_DOUBLE})
    expect_near(truncated(from, x, DT_HALF), {1 + 0x1p-10, -1 - 0x1p-10, 65504, kInf, kInf, kNaN});
  expect_near(truncated(DT_FLOAT, {2 - 0x1p-8, -2 + 0x1p-8}, DT_BFLOAT16), {2 - 0x1p-7, -2 + 0x1p-7});
  expect_near(truncated(DT_DOUBLE, {1 + 0x1.8p-23, 0x1.fffffffp127}, DT_FLOAT), {1 + 0x1p-23, 0x1.fffffep127});
  expect_near(truncated(DT_FLOAT, {0x1.8p-24}, DT_HALF), {0x1p-23});  // no bit to cut: 1.5 of the least number
}

// As TensorFlow 2.21 does.
TEST(Ops, cast_truncates_nothing_else) {
  for (DataType from : {DT_HALF, DT_DOUBLE}) expect_near(truncated(from, {2 - 0x1p-8}, DT_BFLOAT16), {2});
  expect_near(truncated(DT_BFLOAT16, {2 - 0x1p-7}, DT_HALF), {2 - 0x1p-7});
  expect_near(truncated(DT_FLOAT, {2.75, -2.75}, DT_INT32), {2, -2});
  expect_near(truncated(DT_INT32, {16777219}, DT_FLOAT), {16777220});
}

TEST(Ops, take_sizes_of_either_width) {
  for (DataType dtype : {DT_INT32, DT_INT64}) {
    const Tensor x = tensor({2, 2}, {1, 2, 3, 4});
    expect_near(run_op("Sum", {x, numbers({0}, dtype)}).outputs.at(0), {4, 6});
    expect_near(run_op("Reshape", {x, numbers({4}, dtype)}).outputs.at(0), {1, 2, 3, 4});
    expect_near(run_op("Transpose", {x, numbers({1, 0}, dtype)}).outputs.at(0), {1, 3, 2, 4});
  }
}

TEST(Ops, invert_permutations) {
  for (DataType dtype : {DT_INT32, DT_INT64})
    expect_near(run_op("InvertPermutation", {numbers({2, 0, 3, 1}, dtype)}).outputs.at(0), {1, 3, 0, 2});
}

// Sizes that are computed are known as constants are: what is made from them has its shape when the graph is built.
TEST(Ops, on_known_sizes_give_known_shapes) {
  const Scope scope = Scope::NewRootScope();
  const Output x(scope.add("Placeholder", {}, {{"dtype", DT_FLOAT}, {"shape", PartialTensorShape({2, 3, 4})}}), 0);
  const Output shape(scope.add("Cast", {Output(scope.add("Shape", {x}), 0)}, {{"DstT", DT_INT64}}), 0);
  const Output inverse(scope.add("InvertPermutation", {Input({2, 0, 1})}), 0);
  Node* flat = scope.add("Reshape", {x, Input({-1, 4})});
  Node* back = scope.add("Reshape", {Output(flat, 0), shape});
  Node* turned = scope.add("Transpose", {Output(back, 0), inverse});
  ASSERT_TRUE(scope.ok()) << scope.status();
  EXPECT_EQ(flat->outputs()[0].shape, PartialTensorShape({6, 4}));
  EXPECT_EQ(back->outputs()[0].shape, PartialTensorShape({2, 3, 4}));
  EXPECT_EQ(turned->outputs()[0].shape, PartialTensorShape({3, 4, 2}));
}

TEST(Ops, know_what_can_be_known_of_partial_shapes) {
  const Scope scope = Scope::NewRootScope();
  const auto fed = [&](const PartialTensorShape& shape, DataType dtype = DT_FLOAT) {
    return Output(scope.add("Placeholder", {}, {{"dtype", dtype}, {"shape", shape}}), 0);
  };
  const auto shape = [&](const char* op, const std::vector<Input>& inputs, const AttrMap& attrs = {}) {
    const Node* node = scope.add(op, inputs, attrs);
    return node == nullptr ? scope.status().ToString() : node->outputs()[0].shape.DebugString();
  };
  const Output batch = fed({-1, 5, 4}), any = fed(TensorShape{}), axes = fed({2}, DT_INT32);
  const Output unknown(scope.add("Placeholder", {}, {{"dtype", DT_FLOAT}}), 0);
  EXPECT_EQ(shape("Add", {batch, fed({4})}), "[?,5,4]");
  EXPECT_EQ(shape("Mul", {fed({-1, 1}), fed({1, 3})}), "[?,3]");
  EXPECT_EQ(shape("Sum", {batch, Input({1})}), "[?,4]");
  EXPECT_EQ(shape("Sum", {batch, axes}, {{"keep_dims", true}}), "[?,?,?]");
  EXPECT_EQ(shape("Sum", {batch, axes}), "<unknown>");
  EXPECT_EQ(shape("Reshape", {batch, Input({-1, 20})}), "[?,20]");
  EXPECT_EQ(shape("Reshape", {batch, axes}), "[?,?]");
  EXPECT_EQ(shape("Transpose", {batch, Input({2, 0, 1})}), "[4,?,5]");
  EXPECT_EQ(shape("Transpose", {unknown, axes}), "[?,?]");
  EXPECT_EQ(shape("MatMul", {fed({-1, 3}), fed({3, 7})}), "[?,7]");
  EXPECT_EQ(shape("MatMul", {unknown, fed({3, 7})}), "[?,7]");
  EXPECT_EQ(shape("BiasAdd", {fed({-1, -1}), fed({6})}), "[?,6]");
  EXPECT_EQ(shape("BiasAddGrad", {unknown}), "[?]");
  EXPECT_EQ(shape("L2Loss", {unknown}), "[]");
  EXPECT_EQ(shape("SoftmaxCrossEntropyWithLogits", {fed({-1, 3}), unknown}), "[?]");
  EXPECT_EQ(shape("ReluGrad", {unknown, batch}), "[?,5,4]");
  EXPECT_EQ(shape("SumToShapeOf", {unknown, any}), "[]");
}

TEST(Ops, wrap_integers_around) {
  const double top = 2147483647;
  const auto of = [](double value) { return tensor({1}, {value}, DT_INT32); };
  expect_near(run_op("Add", {of(top), of(1)}).outputs.at(0), {-2147483648.0});
  expect_near(run_op("Mul", {of(65536), of(65536)}).outputs.at(0), {0});
  expect_near(run_op("Square", {of(46341)}).outputs.at(0), {-2147479015.0});
  expect_near(run_op("Neg", {of(-2147483648.0)}).outputs.at(0), {-2147483648.0});
  expect_near(run_op("Sum", {tensor({2}, {top, 1}, DT_INT32), numbers({0})}).outputs.at(0), {-2147483648.0});
}

TEST(Ops, round_sums_once) {
  std::vector<double> many(4096, 1.0);
  many[0] = 2048;  // in half, 2048 + 1 = 2048
  expect_near(run_op("Sum", {tensor({4096}, many, DT_HALF), numbers({0})}).outputs.at(0), {6143});
  const std::vector<double> tiny = {1e16, 1, -1e16, 1};
  expect_near(run_op("Sum", {tensor({4}, tiny), numbers({0})}).outputs.at(0), {2});
  expect_near(run_op("Sum", {tensor({2}, {kInf, 1}), numbers({0})}).outputs.at(0), {kInf});
}

TEST(Ops, keep_nan) {
  const Tensor x = tensor({3}, {kNaN, -1, 2}, DT_FLOAT);
  expect_near(run_op("Relu", {x}).outputs.at(0), {kNaN, 0, 2});
  expect_near(run_op("Square", {x}).outputs.at(0), {kNaN, 1, 4});
  expect_near(run_op("Sum", {x, numbers({0})}).outputs.at(0), {kNaN});
}

// Against a loop, for all ways to transpose and all types.
TEST(MatMul, agrees_with_a_loop) {
  std::mt19937 bits(7);
  for (int round = 0; round < 12; ++round) {
    const auto size = [&] { return static_cast<int64>(bits() % 6); };
    const int64 m = size(), k = size(), n = size();
    for (int form = 0; form < 4; ++form) {
      const bool ta = form & 1, tb = form & 2;
      std::vector<double> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n)), wanted;
      for (double& value : a) value = static_cast<double>(bits() % 7) - 3;
      for (double& value : b) value = static_cast<double>(bits() % 7) - 3;
      for (int64 i = 0; i < m; ++i) {
        for (int64 j = 0; j < n; ++j) {
          double sum = 0;
          for (int64 t = 0; t < k; ++t)
            sum += a[static_cast<std::size_t>(ta ? t * m + i : i * k + t)] *
                   b[static_cast<std::size_t>(tb ? j * k + t : t * n + j)];
          wanted.push_back(sum);
        }
      }
      expect_case({"MatMul",
                   {{ta ? Shape{k, m} : Shape{m, k}, a}, {tb ? Shape{n, k} : Shape{k, n}, b}},
                   {{"transpose_a", ta}, {"transpose_b", tb}, {"grad_a", tb}, {"grad_b", ta}},
                   {m, n},
                   wanted});
    }
  }
}

}  // namespace
}  // namespace convgrad::graph

// The derivatives of every op that has them, over random shapes.
#include "derivatives.h"

namespace convgrad::graph {
namespace {

using test::expect_derivatives;
using test::expect_rounds;
using test::Expression;
using test::of_op;
using test::Random;

TEST(OpGradients, of_elements) {
  for (const char* op : {"Identity", "Square", "Neg", "Relu", "Sigmoid"})
    expect_rounds(2, [&](Random& r) { return of_op(op, {r.shape(r.from(0, 3))}); });
  expect_rounds(2, [](Random& r) {
    const Shape shape = r.shape(2);
    return of_op("ReluGrad", {shape, shape});
  });
  expect_rounds(2, [](Random& r) {
    const Shape shape = r.shape(2);
    return of_op("AddN", {shape, shape, shape});
  });
  expect_rounds(1, [](Random& r) { return of_op("Cast", {r.shape(2)}, {{"DstT", DT_FLOAT}}); });
}

TEST(OpGradients, of_broadcasting) {
  for (const char* op : {"Add", "AddV2", "Sub", "Mul"}) {
    expect_rounds(4, [&](Random& r) {
      Shape x = r.shape(r.from(1, 3)), y = x;
      for (std::size_t d = 0; d < x.size(); ++d) (r.from(0, 1) == 0 ? x : y)[d] = r.from(0, 1) == 0 ? 1 : x[d];
      if (r.from(0, 1) == 0) y.erase(y.begin());
      return of_op(op, {x, y});
    });
  }
  expect_derivatives(of_op("SumToShapeOf", {{2, 3, 2}, {3, 1}}));
  expect_derivatives(of_op("BroadcastToShapeOf", {{3, 1}, {2, 3, 2}}));
}

TEST(OpGradients, of_shapes) {
  expect_rounds(2, [](Random& r) {
    const Shape shape = r.shape(3);
    return of_op("Reshape", {shape}, {}, {Input({-1, static_cast<int>(shape[2])})});
  });
  expect_rounds(2, [](Random& r) { return of_op("Transpose", {r.shape(3)}, {}, {Input({2, 0, 1})}); });
}

TEST(OpGradients, of_reductions) {
  for (const char* op : {"Sum", "Mean"}) {
    for (bool keep : {false, true}) {
      expect_rounds(1, [&](Random& r) { return of_op(op, {r.shape(3)}, {{"keep_dims", keep}}, {Input({0, -1})}); });
      expect_rounds(1, [&](Random& r) { return of_op(op, {r.shape(2)}, {{"keep_dims", keep}}, {Input(1)}); });
    }
  }
  for (const char* op : {"SumGrad", "MeanGrad"})
    expect_rounds(2, [&](Random& r) {
      const Shape shape = r.shape(2);
      return of_op(op, {{shape[1]}, shape}, {}, {Input({0})});
    });
  expect_rounds(2, [](Random& r) { return of_op("L2Loss", {r.shape(r.from(0, 3))}); });
}

TEST(OpGradients, of_products_of_matrices) {
  for (bool ta : {false, true}) {
    for (bool tb : {false, true}) {
      expect_rounds(1, [&](Random& r) {
        const int64 m = r.from(1, 3), k = r.from(1, 3), n = r.from(1, 3);
        return of_op("MatMul", {ta ? Shape{k, m} : Shape{m, k}, tb ? Shape{n, k} : Shape{k, n}},
                     {{"transpose_a", ta}, {"transpose_b", tb}});
      });
    }
  }
}

TEST(OpGradients, of_bias) {
  for (const char* format : {"NHWC", "NCHW"}) {
    for (int64 rank : {2, 3, 4, 5}) {
      expect_rounds(1, [&](Random& r) {
        const Shape shape = r.shape(rank, 2);
        const AttrMap attrs = {{"data_format", string(format)}};
        return of_op("BiasAdd", {shape, {string(format) == "NCHW" ? shape[1] : shape.back()}}, attrs);
      });
    }
    expect_rounds(1, [&](Random& r) { return of_op("BiasAddGrad", {r.shape(4)}, {{"data_format", string(format)}}); });
  }
}

TEST(OpGradients, of_softmax) {
  for (const char* op : {"Softmax", "LogSoftmax"})
    expect_rounds(3, [&](Random& r) { return of_op(op, {r.shape(r.from(1, 3))}); });
  expect_rounds(3, [](Random& r) {  // labels are no probabilities here: any are differentiated right
    const Shape shape = r.shape(2, 4);
    return of_op("SoftmaxCrossEntropyWithLogits", {shape, shape});
  });
}

// ---- Pools ----

struct Pool {
  Shape in, out;
  AttrMap attrs;
};

// Windows of random sizes; SAME, VALID and EXPLICIT padding in turn, in both layouts.
Pool random_pool(Random& r, int rank, int round) {
  Pool pool;
  const bool first = r.from(0, 1) == 1;
  std::vector<int64> ksize, strides, pairs;
  for (int d = 0; d < rank + 2; ++d) {
    const bool spatial = d != 0 && d != (first ? 1 : rank + 1);
    ksize.push_back(spatial ? r.from(1, rank == 2 ? 3 : 2) : 1);
    strides.push_back(spatial ? r.from(1, 2) : 1);
    pool.in.push_back(spatial ? r.from(ksize.back(), rank == 2 ? 4 : 3) : r.from(1, 2));
    for (int side = 0; side < 2; ++side) pairs.push_back(spatial ? r.from(0, ksize.back() - 1) : 0);
  }
  const char* paddings[] = {"SAME", "VALID", "EXPLICIT"};
  pool.attrs = {{"ksize", ksize}, {"strides", strides}, {"padding", string(paddings[round % 3])}};
  if (round % 3 == 2) pool.attrs.emplace("explicit_paddings", pairs);
  pool.attrs.emplace("data_format", string(data_format(first ? Layout::channels_first : Layout::channels_last, rank)));
  const Scope scope = Scope::NewRootScope();
  const Node* y = scope.add(rank == 2 ? "AvgPool" : "AvgPool3D", {Tensor(DT_FLOAT, TensorShape(pool.in))}, pool.attrs);
  pool.out = y->outputs()[0].shape.sizes();
  return pool;
}

TEST(OpGradients, of_pools) {
  for (int rank : {2, 3}) {
    const string tail = rank == 2 ? "" : "3D";
    int round = 0;
    expect_rounds(3, [&](Random& r) {
      const Pool pool = random_pool(r, rank, round++);
      return of_op("AvgPool" + tail, {pool.in}, pool.attrs);
    });
    round = 0;
    expect_rounds(3, [&](Random& r) {
      const Pool pool = random_pool(r, rank, round++);
      return of_op("MaxPool" + tail, {pool.in}, pool.attrs);
    });
    round = 0;
    expect_rounds(3, [&](Random& r) {
      const Pool pool = random_pool(r, rank, round++);
      return of_op("MaxPool" + tail + "GradGrad", {pool.in, pool.out, pool.in}, pool.attrs);
    });
    round = 0;
    expect_rounds(3, [&](Random& r) {
      const Pool pool = random_pool(r, rank, round++);
      Expression expression{{pool.out}, {}};
      expression.build = [pool, tail](const Scope& scope, const std::vector<Output>& xs) {
        const Tensor shape = test::numbers(pool.in);
        return test::outputs_of(scope.add("AvgPool" + tail + "Grad", {shape, xs[0]}, pool.attrs));
      };
      return expression;
    });
  }
}

// Every op that says it has a gradient stands in a test above (MaxPoolGrad as the gradient of MaxPool), or among the
// convolutions and the constant ones.
TEST(OpGradients, are_all_tested) {
  const std::set<string> tested = {"Identity",
                                   "Square",
                                   "Neg",
                                   "Relu",
                                   "ReluGrad",
                                   "Sigmoid",
                                   "AddN",
                                   "Cast",
                                   "Add",
                                   "AddV2",
                                   "Sub",
                                   "Mul",
                                   "SumToShapeOf",
                                   "BroadcastToShapeOf",
                                   "Reshape",
                                   "Transpose",
                                   "Sum",
                                   "Mean",
                                   "SumGrad",
                                   "MeanGrad",
                                   "L2Loss",
                                   "MatMul",
                                   "BiasAdd",
                                   "BiasAddGrad",
                                   "Softmax",
                                   "LogSoftmax",
                                   "SoftmaxCrossEntropyWithLogits",
                                   "AvgPool",
                                   "AvgPool3D",
                                   "AvgPoolGrad",
                                   "AvgPool3DGrad",
                                   "MaxPool",
                                   "MaxPool3D",
                                   "MaxPoolGrad",
                                   "MaxPool3DGrad",
                                   "MaxPoolGradGrad",
                                   "MaxPool3DGradGrad"};
  for (const OpSpec* op : all_graph_ops()) {
    const bool elsewhere = op->name.find("Conv") != string::npos || op->name == "OnesLike" || op->name == "ZerosLike";
    EXPECT_EQ(op->has_gradient, elsewhere || tested.contains(op->name)) << op->name;
  }
}

}  // namespace
}  // namespace convgrad::graph

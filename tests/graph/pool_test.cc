// Pooling by hand, and against loops over random windows, sizes, padding and layouts.
#include <random>

#include "one_op.h"

namespace convgrad::graph {
namespace {

using test::expect_near;
using test::numbers;
using test::Ran;
using test::run_op;
using test::tensor;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

AttrMap window(std::vector<int64> ksize, std::vector<int64> strides, string padding) {
  return {{"ksize", std::move(ksize)}, {"strides", std::move(strides)}, {"padding", std::move(padding)}};
}

const AttrMap kPairs = window({1, 2, 2, 1}, {1, 2, 2, 1}, "VALID");
const AttrMap kSame = window({1, 2, 2, 1}, {1, 2, 2, 1}, "SAME");
const std::vector<double> kNine = {1, 2, 3, 4, 5, 6, 7, 8, 9};

TEST(Pools, by_hand_in_every_type) {
  for (DataType dtype : find_graph_op("MaxPool")->attr("T")->types) {
    const Tensor x = tensor({1, 3, 3, 1}, kNine, dtype);
    const Tensor y = run_op("MaxPool", {x}, kSame).outputs.at(0);
    EXPECT_EQ(y.shape(), (TensorShape{1, 2, 2, 1}));
    expect_near(y, {5, 6, 8, 9});
    expect_near(run_op("MaxPool", {x}, kPairs).outputs.at(0), {5});
    expect_near(run_op("MaxPoolGrad", {x, y, tensor({1, 2, 2, 1}, {1, 2, 3, 4}, dtype)}, kSame).outputs.at(0),
                {0, 0, 0, 0, 1, 2, 0, 3, 4});
    expect_near(run_op("MaxPoolGradGrad", {x, y, x}, kSame).outputs.at(0), {5, 6, 8, 9});
  }
  for (DataType dtype : find_graph_op("AvgPool")->attr("T")->types) {
    const Tensor x = tensor({1, 3, 3, 1}, kNine, dtype);
    expect_near(run_op("AvgPool", {x}, kSame).outputs.at(0), {3, 4.5, 7.5, 9});  // of 4, 2, 2 and 1 elements
    const Tensor dy = tensor({1, 2, 2, 1}, {4, 2, 6, 1}, dtype);
    expect_near(run_op("AvgPoolGrad", {numbers({1, 3, 3, 1}), dy}, kSame).outputs.at(0), {1, 1, 1, 1, 1, 1, 3, 3, 1});
  }
}

TEST(Pools, of_volumes_by_hand_in_every_type) {
  const AttrMap cube = window({1, 2, 2, 2, 1}, {1, 1, 1, 1, 1}, "VALID");
  const std::vector<double> eight = {1, 2, 3, 4, 5, 6, 8, 7};
  for (DataType dtype : find_graph_op("MaxPool3D")->attr("T")->types) {
    const Tensor x = tensor({1, 2, 2, 2, 1}, eight, dtype), one = tensor({1, 1, 1, 1, 1}, {5}, dtype);
    expect_near(run_op("MaxPool3D", {x}, cube).outputs.at(0), {8});
    expect_near(run_op("MaxPool3DGrad", {x, one, one}, cube).outputs.at(0), {0, 0, 0, 0, 0, 0, 5, 0});
    expect_near(run_op("MaxPool3DGradGrad", {x, one, x}, cube).outputs.at(0), {8});
  }
  for (DataType dtype : find_graph_op("AvgPool3D")->attr("T")->types) {
    const Tensor x = tensor({1, 2, 2, 2, 1}, eight, dtype), one = tensor({1, 1, 1, 1, 1}, {8}, dtype);
    expect_near(run_op("AvgPool3D", {x}, cube).outputs.at(0), {4.5});
    expect_near(run_op("AvgPool3DGrad", {numbers({1, 2, 2, 2, 1}), one}, cube).outputs.at(0), {1, 1, 1, 1, 1, 1, 1, 1});
  }
}

TEST(Pools, take_the_first_of_equals_and_nan_before_all) {
  const Tensor ties = tensor({1, 2, 2, 1}, {3, 7, 7, 7}), one = tensor({1, 1, 1, 1}, {5});
  expect_near(run_op("MaxPoolGrad", {ties, one, one}, kPairs).outputs.at(0), {0, 5, 0, 0});
  const Tensor nans = tensor({1, 2, 2, 1}, {3, kNaN, 9, kNaN});
  expect_near(run_op("MaxPool", {nans}, kPairs).outputs.at(0), {kNaN});
  expect_near(run_op("MaxPoolGrad", {nans, one, one}, kPairs).outputs.at(0), {0, 5, 0, 0});
  const Tensor below = tensor({1, 2, 2, 1}, {-std::numeric_limits<double>::infinity(), -9, -8, -7});
  expect_near(run_op("MaxPool", {below}, kPairs).outputs.at(0), {-7});
}

TEST(Pools, of_nothing_are_empty) {
  for (const Shape& shape : {Shape{0, 3, 3, 1}, Shape{1, 3, 3, 0}}) {
    const Tensor x = tensor(shape, {}, DT_FLOAT);
    const Shape out = {shape[0], 2, 2, shape[3]};
    EXPECT_EQ(run_op("MaxPool", {x}, kSame).outputs.at(0).shape().dim_sizes(), out);
    EXPECT_EQ(run_op("AvgPool", {x}, kSame).outputs.at(0).shape().dim_sizes(), out);
    const Tensor y = tensor(out, {}, DT_FLOAT);
    EXPECT_EQ(run_op("MaxPoolGrad", {x, y, y}, kSame).outputs.at(0).shape().dim_sizes(), shape);
    EXPECT_EQ(run_op("AvgPoolGrad", {numbers(shape), y}, kSame).outputs.at(0).shape().dim_sizes(), shape);
  }
  const Tensor flat = tensor({1, 0, 3, 1}, {}, DT_FLOAT);
  EXPECT_EQ(run_op("MaxPool", {flat}, kSame).outputs.at(0).shape(), (TensorShape{1, 0, 2, 1}));
}

// ---- Against loops ----

// A pooling as the test sees it: three spatial dimensions, the first of size 1 for images.
struct Problem {
  int rank;
  bool channels_first;
  int64 n, c;
  std::array<int64, 3> in, k, stride, before, out;
  AttrMap attrs;

  Shape shape(const std::array<int64, 3>& sizes) const {
    Shape made = {n};
    if (channels_first) made.push_back(c);
    for (int d = 3 - rank; d < 3; ++d) made.push_back(sizes[static_cast<std::size_t>(d)]);
    if (!channels_first) made.push_back(c);
    return made;
  }
  std::size_t at(const std::array<int64, 3>& sizes, int64 b, int64 channel, const std::array<int64, 3>& x) const {
    const int64 cell = (x[0] * sizes[1] + x[1]) * sizes[2] + x[2], cells = sizes[0] * sizes[1] * sizes[2];
    return static_cast<std::size_t>(channels_first ? (b * c + channel) * cells + cell
                                                   : (b * cells + cell) * c + channel);
  }
};

std::vector<int64> in_order(const Problem& p, const std::array<int64, 3>& spatial) {
  std::vector<int64> list = p.channels_first ? std::vector<int64>{1, 1} : std::vector<int64>{1};
  for (int d = 3 - p.rank; d < 3; ++d) list.push_back(spatial[static_cast<std::size_t>(d)]);
  if (!p.channels_first) list.push_back(1);
  return list;
}

Problem random_problem(std::mt19937& bits) {
  const auto from = [&](int64 low, int64 high) {
    return low + static_cast<int64>(bits() % static_cast<unsigned>(high - low + 1));
  };
  Problem p{.rank = static_cast<int>(from(2, 3)),
            .channels_first = from(0, 1) == 1,
            .n = from(1, 2),
            .c = from(1, 3),
            .in = {1, 1, 1},
            .k = {1, 1, 1},
            .stride = {1, 1, 1},
            .before = {0, 0, 0},
            .out = {1, 1, 1},
            .attrs = {}};
  const int64 padding = from(0, 2);
  std::vector<int64> pairs = p.channels_first ? std::vector<int64>{0, 0, 0, 0} : std::vector<int64>{0, 0};
  for (auto d = static_cast<std::size_t>(3 - p.rank); d < 3; ++d) {
    p.k[d] = from(1, 3), p.stride[d] = from(1, 3), p.in[d] = from(p.k[d], 6);
    const int64 before = from(0, p.k[d] - 1), after = from(0, p.k[d] - 1);
    if (padding == 0) {
      p.out[d] = (p.in[d] + p.stride[d] - 1) / p.stride[d];
      p.before[d] = std::max<int64>(0, (p.out[d] - 1) * p.stride[d] + p.k[d] - p.in[d]) / 2;
    } else {
      p.before[d] = padding == 1 ? 0 : before;
      p.out[d] = (p.in[d] + p.before[d] + (padding == 1 ? 0 : after) - p.k[d]) / p.stride[d] + 1;
    }
    pairs.insert(pairs.end(), {before, after});
  }
  if (!p.channels_first) pairs.insert(pairs.end(), {0, 0});
  p.attrs = window(in_order(p, p.k), in_order(p, p.stride),
                   padding == 0   ? "SAME"
                   : padding == 1 ? "VALID"
                                  : "EXPLICIT");
  if (padding == 2) p.attrs["explicit_paddings"] = pairs;
  p.attrs["data_format"] =
      string(data_format(p.channels_first ? Layout::channels_first : Layout::channels_last, p.rank));
  return p;
}

// Everything that the loops give for one problem.
struct Wanted {
  std::vector<double> max, max_grad, max_grad_grad, avg, avg_grad;
};

template <class F>
void each(const std::array<int64, 3>& sizes, F f) {
  for (int64 i = 0; i < sizes[0]; ++i)
    for (int64 j = 0; j < sizes[1]; ++j)
      for (int64 k = 0; k < sizes[2]; ++k) f(std::array<int64, 3>{i, j, k});
}

Wanted loops(const Problem& p, const std::vector<double>& x, const std::vector<double>& dy,
             const std::vector<double>& dx) {
  Wanted w{std::vector<double>(dy.size()), std::vector<double>(x.size()), std::vector<double>(dy.size()),
           std::vector<double>(dy.size()), std::vector<double>(x.size())};
  for (int64 b = 0; b < p.n; ++b) {
    for (int64 c = 0; c < p.c; ++c) {
      each(p.out, [&](const std::array<int64, 3>& o) {
        std::vector<std::size_t> inside;
        each(p.k, [&](const std::array<int64, 3>& t) {
          std::array<int64, 3> at{};
          bool real = true;
          for (std::size_t d = 0; d < 3; ++d) {
            at[d] = o[d] * p.stride[d] + t[d] - p.before[d];
            real = real && at[d] >= 0 && at[d] < p.in[d];
          }
          if (real) inside.push_back(p.at(p.in, b, c, at));
        });
        const std::size_t out = p.at(p.out, b, c, o);
        std::size_t best = inside.front();
        for (std::size_t i : inside) best = x[i] > x[best] ? i : best;
        w.max[out] = x[best], w.max_grad[best] += dy[out], w.max_grad_grad[out] = dx[best];
        for (std::size_t i : inside) {
          w.avg[out] += x[i] / static_cast<double>(inside.size());
          w.avg_grad[i] += dy[out] / static_cast<double>(inside.size());
        }
      });
    }
  }
  return w;
}

void expect_close(const Ran& ran, const std::vector<double>& wanted) {
  ASSERT_TRUE(ran.status.ok()) << ran.status.message();
  ASSERT_EQ(ran.outputs[0].NumElements(), static_cast<int64>(wanted.size()));
  // Sums of at most 27 * 27 terms up to 1: the loop's own rounding.
  for (std::size_t i = 0; i < wanted.size(); ++i)
    ASSERT_NEAR(ran.outputs[0].at(static_cast<int64>(i)), wanted[i], 1e-13) << "element " << i;
}

TEST(Pools, agree_with_loops) {
  std::mt19937 bits(11);
  for (int round = 0; round < 150; ++round) {
    const Problem p = random_problem(bits);
    const auto random = [&](const Shape& shape) {
      std::vector<double> made(static_cast<std::size_t>(TensorShape(shape).num_elements()));
      for (double& value : made) value = static_cast<double>(bits()) * 0x1p-31 - 1;
      return made;
    };
    const Shape in = p.shape(p.in), out = p.shape(p.out);
    const std::vector<double> x = random(in), dy = random(out), dx = random(in);
    const Wanted wanted = loops(p, x, dy, dx);
    const Tensor tx = tensor(in, x), tdy = tensor(out, dy), tdx = tensor(in, dx), ty = tensor(out, wanted.max);
    const string tail = p.rank == 2 ? "" : "3D";
    SCOPED_TRACE("round " + std::to_string(round));
    expect_close(run_op("MaxPool" + tail, {tx}, p.attrs), wanted.max);
    expect_close(run_op("MaxPool" + tail + "Grad", {tx, ty, tdy}, p.attrs), wanted.max_grad);
    expect_close(run_op("MaxPool" + tail + "GradGrad", {tx, ty, tdx}, p.attrs), wanted.max_grad_grad);
    expect_close(run_op("AvgPool" + tail, {tx}, p.attrs), wanted.avg);
    expect_close(run_op("AvgPool" + tail + "Grad", {numbers(in), tdy}, p.attrs), wanted.avg_grad);
  }
}

TEST(Pools, know_what_can_be_known_of_partial_shapes) {
  const Scope scope = Scope::NewRootScope();
  const auto shape = [&](const PartialTensorShape& input, const AttrMap& attrs) {
    const Output x(scope.add("Placeholder", {}, {{"dtype", DT_FLOAT}, {"shape", input}}), 0);
    const Node* node = scope.add("MaxPool", {x}, attrs);
    return node == nullptr ? scope.status().ToString() : node->outputs()[0].shape.DebugString();
  };
  EXPECT_EQ(shape({-1, 8, -1, 3}, kSame), "[?,4,?,3]");
  EXPECT_EQ(shape({2, -1, 9, -1}, kPairs), "[2,?,4,?]");
  EXPECT_EQ(shape(PartialTensorShape(), kPairs), "[?,?,?,?]");
}

}  // namespace
}  // namespace convgrad::graph

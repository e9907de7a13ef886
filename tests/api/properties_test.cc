// Properties that need no reference: identities that hold to the last bit on integers.
#include <gtest/gtest.h>

#include "support/problems.h"

namespace convgrad {
namespace {

constexpr int kShards = 8;

Tensor computed(ConvProblem problem, Direction direction, const Tensor& first, const Tensor& second) {
  problem.direction = direction;
  const Result<Tensor> result = compute(problem, first, second);
  if (!result.ok()) ADD_FAILURE() << to_text(problem) << ": " << result.status().message();
  return result.ok() ? *result : Tensor();
}

double dot(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) sum += a.at(i) * b.at(i);
  return sum;
}

// Volumes refuse some problems without work that flat ones take.
bool is_legal_in_all_directions(ConvProblem problem) {
  for (Direction direction : {Direction::forward, Direction::input_grad, Direction::filter_grad}) {
    problem.direction = direction;
    if (!validate(problem).ok()) return false;
  }
  return true;
}

// A problem with one set of operands: y = conv(x, f), and dy of y's shape.
struct Instance {
  ConvProblem problem;
  Geometry geometry;
  Tensor x, f, dy;

  explicit Instance(test::Random& random) : problem(drawn(random)), geometry(validate(problem).value()) {
    x = test::random_integers(random, problem.dtype, in_shape(geometry));
    f = test::random_integers(random, problem.dtype, filter_shape(geometry));
    dy = test::random_integers(random, problem.dtype, out_shape(geometry));
  }

  // f32: sums of at most 4000 products of numbers up to 8 (after adding two) are exact.
  static ConvProblem drawn(test::Random& random) {
    while (true) {
      ConvProblem problem = test::random_problem(random, 4000);
      problem.dtype = DType::f32;
      problem.direction = Direction::filter_grad;
      if (is_legal_in_all_directions(problem)) return problem;
    }
  }

  std::size_t channel_axis() const {
    return problem.layout == Layout::channels_last ? static_cast<std::size_t>(problem.rank) + 1 : 1;
  }
  std::size_t out_axis() const { return static_cast<std::size_t>(problem.rank) + 1; }  // of the filter
  Tensor forward() const { return computed(problem, Direction::forward, x, f); }
  Tensor dx() const { return computed(problem, Direction::input_grad, f, dy); }
  Tensor df() const { return computed(problem, Direction::filter_grad, x, dy); }
};

using Property = void (*)(test::Random&, const Instance&);

// <conv(x,f), dy> = <x, dx> = <f, df>
void adjoint_triangle(test::Random&, const Instance& i) {
  const double middle = dot(i.forward(), i.dy);
  ASSERT_EQ(middle, dot(i.x, i.dx()));
  ASSERT_EQ(middle, dot(i.f, i.df()));
}

void linear_in_each_argument(test::Random& random, const Instance& i) {
  const Tensor x2 = test::random_integers(random, DType::f32, i.x.shape());
  const Tensor f2 = test::random_integers(random, DType::f32, i.f.shape());
  const Tensor dy2 = test::random_integers(random, DType::f32, i.dy.shape());
  const auto sum = test::added;
  const ConvProblem& p = i.problem;
  ASSERT_EQ(test::difference(computed(p, Direction::forward, sum(i.x, x2), i.f),
                             sum(i.forward(), computed(p, Direction::forward, x2, i.f))),
            "");
  ASSERT_EQ(test::difference(computed(p, Direction::filter_grad, i.x, sum(i.dy, dy2)),
                             sum(i.df(), computed(p, Direction::filter_grad, i.x, dy2))),
            "");
  ASSERT_EQ(test::difference(computed(p, Direction::input_grad, sum(i.f, f2), i.dy),
                             sum(i.dx(), computed(p, Direction::input_grad, f2, i.dy))),
            "");
}

// The filter gradient of a batch is the sum over its parts; the other two are concatenations.
void additive_over_the_batch(test::Random& random, const Instance& i) {
  const std::int64_t n = i.problem.n, cut = random.between(0, n);
  ConvProblem low = i.problem, high = i.problem;
  low.n = cut;
  high.n = n - cut;
  const Tensor xl = test::sliced(i.x, 0, 0, cut), xh = test::sliced(i.x, 0, cut, n);
  const Tensor yl = test::sliced(i.dy, 0, 0, cut), yh = test::sliced(i.dy, 0, cut, n);
  ASSERT_EQ(test::difference(i.df(), test::added(computed(low, Direction::filter_grad, xl, yl),
                                                 computed(high, Direction::filter_grad, xh, yh))),
            "");
  ASSERT_EQ(test::difference(i.dx(), test::joined({computed(low, Direction::input_grad, i.f, yl),
                                                   computed(high, Direction::input_grad, i.f, yh)},
                                                  0)),
            "");
  ASSERT_EQ(
      test::difference(
          i.forward(),
          test::joined({computed(low, Direction::forward, xl, i.f), computed(high, Direction::forward, xh, i.f)}, 0)),
      "");
}

// axis rearranged so that its position k holds what stood at order[k].
Tensor reordered(const Tensor& tensor, std::size_t axis, const std::vector<std::int64_t>& order) {
  std::vector<Tensor> parts;
  for (std::int64_t at : order) parts.push_back(test::sliced(tensor, axis, at, at + 1));
  return parts.empty() ? tensor : test::joined(parts, axis);
}

std::vector<std::int64_t> shuffled(test::Random& random, std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  for (std::int64_t k = 0; k < count; ++k) order[static_cast<std::size_t>(k)] = k;
  for (std::int64_t k = count; k-- > 1;)
    std::swap(order[static_cast<std::size_t>(k)], order[static_cast<std::size_t>(random.between(0, k))]);
  return order;
}

// Input channels shuffled inside each group, and the filter's with them: y stays, dx and df follow.
void blind_to_channel_order(test::Random& random, const Instance& i) {
  const std::int64_t each = i.geometry.group_c_in();
  const std::vector<std::int64_t> inside = shuffled(random, each);
  std::vector<std::int64_t> order;
  for (std::int64_t g = 0; g < i.geometry.groups; ++g) {
    for (std::int64_t c : inside) order.push_back(g * each + c);
  }
  const std::size_t filter_axis = static_cast<std::size_t>(i.problem.rank);
  const Tensor x = reordered(i.x, i.channel_axis(), order), f = reordered(i.f, filter_axis, inside);
  ASSERT_EQ(test::difference(computed(i.problem, Direction::forward, x, f), i.forward()), "");
  ASSERT_EQ(
      test::difference(computed(i.problem, Direction::input_grad, f, i.dy), reordered(i.dx(), i.channel_axis(), order)),
      "");
  ASSERT_EQ(
      test::difference(computed(i.problem, Direction::filter_grad, x, i.dy), reordered(i.df(), filter_axis, inside)),
      "");
}

// Whole groups exchanged on both sides.
void blind_to_group_order(test::Random& random, const Instance& i) {
  std::vector<std::int64_t> in_order, out_order;
  for (std::int64_t g : shuffled(random, i.geometry.groups)) {
    for (std::int64_t c = 0; c < i.geometry.group_c_in(); ++c) in_order.push_back(g * i.geometry.group_c_in() + c);
    for (std::int64_t c = 0; c < i.geometry.group_c_out(); ++c) out_order.push_back(g * i.geometry.group_c_out() + c);
  }
  const Tensor x = reordered(i.x, i.channel_axis(), in_order), f = reordered(i.f, i.out_axis(), out_order);
  const Tensor dy = reordered(i.dy, i.channel_axis(), out_order);
  ASSERT_EQ(test::difference(computed(i.problem, Direction::forward, x, f),
                             reordered(i.forward(), i.channel_axis(), out_order)),
            "");
  ASSERT_EQ(test::difference(computed(i.problem, Direction::input_grad, f, dy),
                             reordered(i.dx(), i.channel_axis(), in_order)),
            "");
  ASSERT_EQ(
      test::difference(computed(i.problem, Direction::filter_grad, x, dy), reordered(i.df(), i.out_axis(), out_order)),
      "");
}

void layouts_agree(test::Random&, const Instance& i) {
  const bool last = i.problem.layout == Layout::channels_last;
  ConvProblem other = i.problem;
  other.layout = last ? Layout::channels_first : Layout::channels_last;
  const auto there = [&](const Tensor& t) { return last ? test::to_channels_first(t) : test::to_channels_last(t); };
  ASSERT_EQ(test::difference(computed(other, Direction::forward, there(i.x), i.f), there(i.forward())), "");
  ASSERT_EQ(test::difference(computed(other, Direction::input_grad, i.f, there(i.dy)), there(i.dx())), "");
  ASSERT_EQ(test::difference(computed(other, Direction::filter_grad, there(i.x), there(i.dy)), i.df()), "");
}

void groups_are_concatenations(test::Random&, const Instance& i) {
  const Geometry& g = i.geometry;
  ConvProblem one = i.problem;
  one.c_in = g.group_c_in();
  one.c_out = g.group_c_out();
  if (!is_legal_in_all_directions(one)) return;
  std::vector<Tensor> y, dx, df;
  for (std::int64_t k = 0; k < g.groups; ++k) {
    const Tensor x = test::sliced(i.x, i.channel_axis(), k * one.c_in, (k + 1) * one.c_in);
    const Tensor f = test::sliced(i.f, i.out_axis(), k * one.c_out, (k + 1) * one.c_out);
    const Tensor dy = test::sliced(i.dy, i.channel_axis(), k * one.c_out, (k + 1) * one.c_out);
    y.push_back(computed(one, Direction::forward, x, f));
    dx.push_back(computed(one, Direction::input_grad, f, dy));
    df.push_back(computed(one, Direction::filter_grad, x, dy));
  }
  ASSERT_EQ(test::difference(i.forward(), test::joined(y, i.channel_axis())), "");
  ASSERT_EQ(test::difference(i.dx(), test::joined(dx, i.channel_axis())), "");
  ASSERT_EQ(test::difference(i.df(), test::joined(df, i.out_axis())), "");
}

// 1-D = 2-D with height 1, 2-D = 3-D with depth 1.
void a_dimension_of_one_changes_nothing(test::Random&, const Instance& i) {
  if (i.problem.rank == 3) return;
  ConvProblem p = i.problem;
  ++p.rank;
  for (std::size_t d = 2; d > 0; --d) {
    p.in[d] = p.in[d - 1], p.filter[d] = p.filter[d - 1], p.stride[d] = p.stride[d - 1];
    p.dilation[d] = p.dilation[d - 1], p.pads[d] = p.pads[d - 1];
  }
  p.in[0] = p.filter[0] = p.stride[0] = p.dilation[0] = 1;
  p.pads[0] = {0, 0};
  if (!is_legal_in_all_directions(p)) return;
  const Result<Geometry> g = validate(p);
  const Tensor x = test::reshaped(i.x, in_shape(*g)), f = test::reshaped(i.f, filter_shape(*g)),
               dy = test::reshaped(i.dy, out_shape(*g));
  ASSERT_EQ(test::difference(computed(p, Direction::forward, x, f), test::reshaped(i.forward(), out_shape(*g))), "");
  ASSERT_EQ(test::difference(computed(p, Direction::input_grad, f, dy), test::reshaped(i.dx(), in_shape(*g))), "");
  ASSERT_EQ(test::difference(computed(p, Direction::filter_grad, x, dy), test::reshaped(i.df(), filter_shape(*g))), "");
}

void padding_kinds_agree(test::Random&, const Instance& i) {
  const ConvProblem p = problem_of(i.geometry);  // the same numbers as explicit pairs
  ASSERT_EQ(p.padding, PaddingKind::explicit_pairs);
  ASSERT_EQ(test::difference(computed(p, Direction::forward, i.x, i.f), i.forward()), "");
  ASSERT_EQ(test::difference(computed(p, Direction::input_grad, i.f, i.dy), i.dx()), "");
  ASSERT_EQ(test::difference(computed(p, Direction::filter_grad, i.x, i.dy), i.df()), "");
}

// The filter gradient is a forward convolution with dy as its filter, where strides and dilations
// change places, and batch and channels do too: [c', i, n] conv [o, n, c] = [c', t, c].
void strides_and_dilations_are_dual(test::Random&, const Instance& i) {
  const Geometry& g = i.geometry;
  if (g.groups != 1 || g.n == 0 || i.dy.size() == 0 || i.x.size() == 0) return;
  const bool last = i.problem.layout == Layout::channels_last;
  Tensor x = last ? i.x : test::to_channels_last(i.x), dy = last ? i.dy : test::to_channels_last(i.dy);
  const int rank = i.problem.rank;
  std::vector<int> swap_ends, to_filter;  // [n, i, c'] -> [c', i, n];  [n, o, c] -> [o, n, c]
  swap_ends.push_back(rank + 1);
  for (int d = 1; d <= rank; ++d) swap_ends.push_back(d), to_filter.push_back(d);
  swap_ends.push_back(0);
  to_filter.push_back(0), to_filter.push_back(rank + 1);

  ConvProblem p = i.problem;
  p.layout = Layout::channels_last;
  p.n = g.c_in;
  p.c_in = p.filter_c = g.n;
  p.padding = PaddingKind::explicit_pairs;
  for (std::size_t d = 0; d < static_cast<std::size_t>(rank); ++d) {
    const std::size_t at = static_cast<std::size_t>(3 - rank) + d;
    // Cells past the last one a window reads would add outputs: cut them off, or pad up to it.
    const std::int64_t reach = (g.out[at] - 1) * g.stride[at] + (g.filter[at] - 1) * g.dilation[at] + 1;
    const std::int64_t after = reach - g.in[at] - g.pad_before[at];
    const std::int64_t kept = std::max<std::int64_t>(0, g.in[at] + std::min<std::int64_t>(after, 0));
    if (g.in[at] + after < 0) return;  // nothing but padding is read
    x = test::sliced(x, d + 1, 0, kept);
    p.in[d] = kept;
    p.filter[d] = g.out[at];
    p.stride[d] = g.dilation[at];
    p.dilation[d] = g.stride[at];
    p.pads[d] = {g.pad_before[at], std::max<std::int64_t>(after, 0)};
  }
  const Tensor y =
      computed(p, Direction::forward, test::permuted(x, swap_ends), test::permuted(dy, to_filter));  // [c', t, c]
  std::vector<int> back;                                                                             // -> [t, c', c]
  for (int d = 1; d <= rank; ++d) back.push_back(d);
  back.push_back(0), back.push_back(rank + 1);
  ASSERT_EQ(test::difference(test::permuted(y, back), i.df()), "");
}

// Mirroring every spatial dimension of all three tensors, with before and after exchanged.
void mirrors_agree(test::Random&, const Instance& i) {
  const Geometry& g = i.geometry;
  ConvProblem p = problem_of(g);
  const std::size_t first = i.problem.layout == Layout::channels_last ? 1 : 2;
  const auto mirrored = [&](Tensor t, std::size_t axis) {
    for (std::size_t d = 0; d < static_cast<std::size_t>(p.rank); ++d, ++axis) {
      std::vector<std::int64_t> order;
      for (std::int64_t k = t.shape()[axis]; k-- > 0;) order.push_back(k);
      t = reordered(t, axis, order);
    }
    return t;
  };
  for (std::size_t d = 0; d < static_cast<std::size_t>(p.rank); ++d) {
    const std::size_t at = static_cast<std::size_t>(3 - p.rank) + d;
    if (g.out[at] == 0) return;
    // The last window must end exactly at the padded end for the mirror image to start there.
    const std::int64_t reach = (g.out[at] - 1) * g.stride[at] + (g.filter[at] - 1) * g.dilation[at] + 1;
    if (reach != g.in[at] + g.pad_before[at] + g.pad_after[at]) return;
    std::swap(p.pads[d].first, p.pads[d].second);
  }
  const Tensor x = mirrored(i.x, first), f = mirrored(i.f, 0), dy = mirrored(i.dy, first);
  ASSERT_EQ(test::difference(computed(p, Direction::forward, x, f), mirrored(i.forward(), first)), "");
  ASSERT_EQ(test::difference(computed(p, Direction::input_grad, f, dy), mirrored(i.dx(), first)), "");
  ASSERT_EQ(test::difference(computed(p, Direction::filter_grad, x, dy), mirrored(i.df(), 0)), "");
}

struct Named {
  const char* name;
  Property property;
};
constexpr Named kProperties[] = {
    {"adjoint_triangle", adjoint_triangle},
    {"linear_in_each_argument", linear_in_each_argument},
    {"additive_over_the_batch", additive_over_the_batch},
    {"blind_to_channel_order", blind_to_channel_order},
    {"blind_to_group_order", blind_to_group_order},
    {"layouts_agree", layouts_agree},
    {"groups_are_concatenations", groups_are_concatenations},
    {"a_dimension_of_one_changes_nothing", a_dimension_of_one_changes_nothing},
    {"padding_kinds_agree", padding_kinds_agree},
    {"strides_and_dilations_are_dual", strides_and_dilations_are_dual},
    {"mirrors_agree", mirrors_agree},
};

class Properties : public testing::TestWithParam<int> {};

// Each random problem meets every property; a failure prints the problem to replay.
TEST_P(Properties, hold_for_random_problems) {
  test::Random random(2000 + static_cast<std::uint64_t>(GetParam()));
  for (std::int64_t round = 0; round < test::problem_count() / kShards; ++round) {
    const Instance instance(random);
    for (const Named& named : kProperties) {
      named.property(random, instance);
      ASSERT_FALSE(HasFailure()) << named.name << ", replay: round " << round << " of shard " << GetParam() << ": "
                                 << to_text(instance.problem);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, Properties, testing::Range(0, kShards));

}  // namespace
}  // namespace convgrad

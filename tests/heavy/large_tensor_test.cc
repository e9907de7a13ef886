// Tensors of more than 2^31 elements: a 32-bit index anywhere shows. Operands are small integers, so sums are exact and
// elements are compared to the last bit, a few thousand of each result.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/machine.h"
#include "support/problems.h"

namespace convgrad {
namespace {

constexpr std::int64_t kFar = std::int64_t{1} << 31;
constexpr std::int64_t kNeededBytes = std::int64_t{14} << 30;
constexpr std::int64_t kPeriod = 1000003;  // a prime: elements 2^31 or 2^32 apart differ
constexpr int kSamples = 3000;

// Where an element of an image tensor lies, and which element lies there.
struct Image {
  Layout layout;
  std::int64_t n, c;
  Extents size;

  struct Place {
    std::int64_t n, c;
    Extents at;
  };
  std::int64_t elements() const { return n * c * size[0] * size[1] * size[2]; }
  std::int64_t index(const Place& p) const {
    const std::int64_t cell = (p.at[0] * size[1] + p.at[1]) * size[2] + p.at[2], cells = size[0] * size[1] * size[2];
    return layout == Layout::channels_last ? (p.n * cells + cell) * c + p.c : (p.n * c + p.c) * cells + cell;
  }
  Place place(std::int64_t index) const {
    const auto take = [&index](std::int64_t count) {
      const std::int64_t digit = index % count;
      index /= count;
      return digit;
    };
    Place p{};
    if (layout == Layout::channels_last) p.c = take(c);
    for (std::size_t d = 3; d-- > 0;) p.at[d] = take(size[d]);
    if (layout == Layout::channels_first) p.c = take(c);
    p.n = index;
    return p;
  }
};

Image input_of(const Geometry& g) { return {g.layout, g.n, g.c_in, g.in}; }
Image output_of(const Geometry& g) { return {g.layout, g.n, g.c_out, g.out}; }

// Element (tap, ci of the group, co) of the filter.
std::int64_t filter_index(const Geometry& g, const Extents& tap, std::int64_t ci, std::int64_t co) {
  return (((tap[0] * g.filter[1] + tap[1]) * g.filter[2] + tap[2]) * g.group_c_in() + ci) * g.c_out + co;
}

// A block of random integers, again and again.
void fill(Tensor& tensor, std::uint64_t seed) {
  test::Random random(seed);
  const Tensor block = test::random_integers(random, tensor.dtype(), {kPeriod});
  for (std::int64_t at = 0; at < tensor.bytes(); at += block.bytes())
    std::memcpy(static_cast<char*>(tensor.data()) + at, block.data(),
                static_cast<std::size_t>(std::min(block.bytes(), tensor.bytes() - at)));
}

// The ends, both sides of 2^31, and random places between.
std::vector<std::int64_t> samples(std::int64_t count, test::Random& random) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < 100; ++i) all.insert(all.end(), {i, kFar - 50 + i, count - 1 - i});
  for (int i = 0; i < kSamples; ++i) all.push_back(random.between(0, count - 1));
  std::erase_if(all, [count](std::int64_t i) { return i < 0 || i >= count; });
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

template <class Visit>
void each_tap(const Geometry& g, const Visit& visit) {
  Extents t{};
  for (t[0] = 0; t[0] < g.filter[0]; ++t[0])
    for (t[1] = 0; t[1] < g.filter[1]; ++t[1])
      for (t[2] = 0; t[2] < g.filter[2]; ++t[2]) visit(t);
}

// The input that an output reads by a tap; false outside.
bool input_at(const Geometry& g, const Extents& out, const Extents& tap, Extents& in) {
  for (std::size_t d = 0; d < 3; ++d) {
    in[d] = out[d] * g.stride[d] - g.pad_before[d] + tap[d] * g.dilation[d];
    if (in[d] < 0 || in[d] >= g.in[d]) return false;
  }
  return true;
}

// The output that reads an input by a tap; false when none does.
bool output_at(const Geometry& g, const Extents& in, const Extents& tap, Extents& out) {
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t moved = in[d] + g.pad_before[d] - tap[d] * g.dilation[d];
    out[d] = moved / g.stride[d];
    if (moved < 0 || moved % g.stride[d] != 0 || out[d] >= g.out[d]) return false;
  }
  return true;
}

double forward_sum(const Geometry& g, const Tensor& x, const Tensor& filter, std::int64_t index) {
  const Image::Place y = output_of(g).place(index);
  const std::int64_t group = y.c / g.group_c_out();
  double sum = 0;
  each_tap(g, [&](const Extents& tap) {
    Extents in;
    if (!input_at(g, y.at, tap, in)) return;
    for (std::int64_t ci = 0; ci < g.group_c_in(); ++ci)
      sum += x.at(input_of(g).index({y.n, group * g.group_c_in() + ci, in})) * filter.at(filter_index(g, tap, ci, y.c));
  });
  return sum;
}

double input_sum(const Geometry& g, const Tensor& filter, const Tensor& dy, std::int64_t index) {
  const Image::Place x = input_of(g).place(index);
  const std::int64_t group = x.c / g.group_c_in(), first = group * g.group_c_out();
  double sum = 0;
  each_tap(g, [&](const Extents& tap) {
    Extents out;
    if (!output_at(g, x.at, tap, out)) return;
    for (std::int64_t co = first; co < first + g.group_c_out(); ++co)
      sum += dy.at(output_of(g).index({x.n, co, out})) * filter.at(filter_index(g, tap, x.c % g.group_c_in(), co));
  });
  return sum;
}

// The whole filter gradient; `places` are the elements of dy that are not 0.
std::vector<double> filter_sums(const Geometry& g, const Tensor& x, const Tensor& dy,
                                const std::vector<std::int64_t>& places) {
  std::int64_t taps = g.filter[0] * g.filter[1] * g.filter[2];
  std::vector<double> sums(static_cast<std::size_t>(taps * g.group_c_in() * g.c_out));
  for (const std::int64_t index : places) {
    const Image::Place y = output_of(g).place(index);
    const std::int64_t group = y.c / g.group_c_out();
    each_tap(g, [&](const Extents& tap) {
      Extents in;
      if (!input_at(g, y.at, tap, in)) return;
      for (std::int64_t ci = 0; ci < g.group_c_in(); ++ci)
        sums[static_cast<std::size_t>(filter_index(g, tap, ci, y.c))] +=
            x.at(input_of(g).index({y.n, group * g.group_c_in() + ci, in})) * dy.at(index);
    });
  }
  return sums;
}

class LargeTensor : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (available_memory() < kNeededBytes)
      GTEST_SKIP() << "needs 14 GiB of free memory, and " << (available_memory() >> 30) << " are free";
    g_ = validate(parse_problem(std::string(GetParam()) + "_forward").value()).value();
    in_ = Tensor::zeros(g_.dtype, in_shape(g_)).value();
    out_ = Tensor::zeros(g_.dtype, out_shape(g_)).value();
    filter_ = test::random_integers(random_, g_.dtype, filter_shape(g_));
    ASSERT_GT(std::max(in_.size(), out_.size()), kFar);
  }

  void run_direction(Direction direction, const Tensor& first, const Tensor& second, Tensor& result) {
    g_.direction = direction;
    std::memset(result.data(), 0xFF, static_cast<std::size_t>(result.bytes()));  // NaN: what is not written shows
    const Status status = run(make_plan(g_).value(), {first, second, result.mutable_view()});
    ASSERT_TRUE(status.ok()) << status.message();
  }
  double rounded(double value) const { return test::rounded(g_.dtype, value); }

  test::Random random_{41};
  Geometry g_;
  Tensor in_, out_, filter_;
};

// In this order two large tensors do: forward's result makes room for dy, and the input for its gradient.
TEST_P(LargeTensor, is_read_and_written_to_its_end) {
  fill(in_, 42);
  run_direction(Direction::forward, in_, filter_, out_);
  for (const std::int64_t i : samples(out_.size(), random_))
    ASSERT_EQ(out_.at(i), rounded(forward_sum(g_, in_, filter_, i))) << "element " << i << " of forward";

  std::memset(out_.data(), 0, static_cast<std::size_t>(out_.bytes()));
  const std::vector<std::int64_t> places = samples(out_.size(), random_);
  for (const std::int64_t i : places) test::set(out_, i, static_cast<double>(random_.between(1, 4)));
  Tensor grad_filter = Tensor::zeros(g_.dtype, filter_shape(g_)).value();
  run_direction(Direction::filter_grad, in_, out_, grad_filter);
  const std::vector<double> sums = filter_sums(g_, in_, out_, places);
  for (std::size_t i = 0; i < sums.size(); ++i)
    ASSERT_EQ(grad_filter.at(static_cast<std::int64_t>(i)), rounded(sums[i])) << "element " << i << " of the filter";

  fill(out_, 43);
  run_direction(Direction::input_grad, filter_, out_, in_);
  for (const std::int64_t i : samples(in_.size(), random_))
    ASSERT_EQ(in_.at(i), rounded(input_sum(g_, filter_, out_, i))) << "element " << i << " of the input gradient";
}

INSTANTIATE_TEST_SUITE_P(
    Heavy, LargeTensor,
    testing::Values("n2c32h5800w5800_k2r1s1_valid_bf16",                   // dense, merged into one row; input large
                    "n2c2h5800w5800_k32r1s1_valid_bf16",                   // the same; output large
                    "n1c64h5800w5800_k64r2s2_st2_valid_g64_chfirst_bf16",  // lanes, staged
                    "n1c64h5800w5800_k64r2s2_st2_valid_g64_f32",           // lanes, in place
                    "n1c1w2147490000_k1s3_st64_valid_f16"));               // an axis beyond 2^31

}  // namespace
}  // namespace convgrad

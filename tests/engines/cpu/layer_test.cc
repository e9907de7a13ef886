// Axes, stretches and runs: every multiply-add of a problem exactly once, by brute force.
#include "engines/cpu/layer.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "engines/cpu/runs.h"
#include "support/problems.h"

namespace convgrad::cpu {
namespace {

using Triple = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // result position, tap, source position

Axis random_axis(test::Random& random) {
  Axis axis;
  axis.in = random.between(1, 14);
  axis.taps = random.between(1, 5);
  axis.stride = random.between(1, 5);
  axis.dilation = random.between(1, 4);
  axis.pad = random.between(0, 6);
  const std::int64_t room = axis.in + axis.pad + random.between(0, 6) - (axis.taps - 1) * axis.dilation - 1;
  axis.out = room < 0 ? 0 : room / axis.stride + 1;
  return axis;
}

// By the definition: input = output * stride - pad + tap * dilation.
std::set<Triple> all_terms(const Axis& a, bool backward) {
  std::set<Triple> terms;
  for (std::int64_t o = 0; o < a.out; ++o) {
    for (std::int64_t t = 0; t < a.taps; ++t) {
      const std::int64_t i = o * a.stride - a.pad + t * a.dilation;
      if (i >= 0 && i < a.in) terms.insert(backward ? Triple{i, t, o} : Triple{o, t, i});
    }
  }
  return terms;
}

std::set<Triple> terms_of(const std::vector<Stretch>& stretches, std::set<std::int64_t>& positions) {
  std::set<Triple> terms;
  for (const Stretch& s : stretches) {
    for (std::int64_t m = 0; m < s.count; ++m) {
      EXPECT_TRUE(positions.insert(s.first + m * s.step).second) << "a position in two stretches";
      for (std::int64_t j = 0; j < s.taps; ++j) {
        EXPECT_TRUE(terms
                        .insert({s.first + m * s.step, s.tap + j * s.tap_step,
                                 s.source + m * s.source_step + j * s.source_per_tap})
                        .second);
      }
    }
  }
  return terms;
}

TEST(Stretches, hold_every_position_and_every_term_once) {
  test::Random random(31);
  for (int round = 0; round < 20000; ++round) {
    const Axis axis = random_axis(random);
    for (bool backward : {false, true}) {
      std::set<std::int64_t> positions;
      const std::vector<Stretch> stretches = backward ? backward_stretches(axis) : forward_stretches(axis);
      ASSERT_EQ(terms_of(stretches, positions), all_terms(axis, backward)) << "round " << round;
      ASSERT_EQ(static_cast<std::int64_t>(positions.size()), backward ? axis.in : axis.out) << "round " << round;
    }
  }
}

TEST(Stretches, clipped_to_the_parts_of_an_axis_are_the_whole) {
  test::Random random(32);
  for (int round = 0; round < 2000; ++round) {
    const Axis axis = random_axis(random);
    const std::int64_t cut = random.between(0, axis.in);
    std::vector<Stretch> parts;
    for (const Stretch& s : backward_stretches(axis)) {
      parts.push_back(clipped(s, 0, cut));
      parts.push_back(clipped(s, cut, axis.in));
    }
    std::set<std::int64_t> positions;
    ASSERT_EQ(terms_of(parts, positions), all_terms(axis, true)) << "round " << round;
    ASSERT_EQ(static_cast<std::int64_t>(positions.size()), axis.in);
  }
}

// Few stretches for a long axis: the middle is one.
TEST(Stretches, do_not_grow_with_the_extent) {
  const Axis axis{.in = 1 << 30, .out = 1 << 30, .taps = 7, .dilation = 2, .pad = 6};
  EXPECT_EQ(forward_stretches(axis).size(), 7u);
  EXPECT_EQ(backward_stretches(axis).size(), 7u);
}

TEST(Layer, of_a_1x1_filter_is_one_row) {
  const Layer layer = layer_of(validate(parse_problem("n4c8h5w6_k3r1s1_valid_f32_forward").value()).value());
  EXPECT_EQ(layer.axes[3].in, 4 * 5 * 6);
  EXPECT_EQ(layer.axes[3].in_step, 8);
  EXPECT_EQ(layer.axes[3].out_step, 3);
  for (std::size_t a = 0; a < 3; ++a) EXPECT_EQ(layer.axes[a].in, 1);
}

TEST(Layer, of_a_strided_1x1_filter_reads_every_second_pixel) {
  const Layer layer = layer_of(validate(parse_problem("n1c8h6w6_k3r1s1_st2_valid_f32_filter_grad").value()).value());
  EXPECT_EQ(layer.axes[3].stride, 1);
  EXPECT_EQ(layer.axes[3].in, 3);
  EXPECT_EQ(layer.axes[3].in_step, 16);
}

// Runs cover their terms in order; chunks and blocks keep their limits.
TEST(Runs, are_cut_into_chunks_and_blocks) {
  test::Random random(33);
  std::vector<cpu::Run> memory(5000);
  for (int round = 0; round < 500; ++round) {
    const std::int64_t adds = random.between(1, 40), length = random.between(1, 300);
    RunList list(memory.data(), {3, 2});
    for (std::int64_t i = 0; i < adds; ++i) list.add(i * 10000, i * 7000, length);
    list.close();
    ASSERT_LE(list.count(), RunList::most(adds, adds * length));
    std::int64_t add = 0, at = 0, chunk = 0, terms = 0;
    for (const cpu::Run* run = list.begin(); run != list.begin() + list.count(); ++run) {
      ASSERT_EQ(run->a, add * 10000 + at * 3);
      ASSERT_EQ(run->b, add * 7000 + at * 2);
      at += run->length;
      terms += run->length;
      chunk += run->length;
      ASSERT_LE(chunk, kChunkSteps);
      if (run->closes) chunk = 0;
      if (at == length) ++add, at = 0;
    }
    ASSERT_EQ(terms, adds * length);
    ASSERT_EQ(chunk, 0) << "the last run closes";
    for (std::int64_t begin = 0, end; begin < list.count(); begin = end) {
      end = list.block_end(begin);
      std::int64_t steps = 0;
      for (std::int64_t r = begin; r < end; ++r) steps += list.begin()[r].length;
      ASSERT_GT(steps, 0);
      ASSERT_LE(steps, kBlockSteps);
      ASSERT_EQ(list.begin()[end - 1].closes, 1);
    }
  }
}

}  // namespace
}  // namespace convgrad::cpu

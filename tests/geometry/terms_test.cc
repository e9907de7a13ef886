// The terms of single cells against the oracle, which lists every multiply-add of a problem by brute force.
#include "convgrad/terms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "support/oracle.h"
#include "support/problems.h"

namespace convgrad {
namespace {

using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

// The operands' elements that each element of the result multiplies.
std::map<std::int64_t, Pairs> by_brute_force(const Geometry& geometry) {
  std::map<std::int64_t, Pairs> cells;
  test::for_each_term(geometry, [&](const test::Term& term) {
    switch (geometry.direction) {
      case Direction::forward: cells[term.out].emplace_back(term.in, term.filter); break;
      case Direction::input_grad: cells[term.in].emplace_back(term.filter, term.out); break;
      default: cells[term.filter].emplace_back(term.in, term.out); break;
    }
  });
  for (auto& [cell, pairs] : cells) std::sort(pairs.begin(), pairs.end());
  return cells;
}

std::int64_t elements(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

Pairs listed(const Terms& terms) {
  Pairs pairs;
  for (const Term& term : terms.list) pairs.emplace_back(term.first, term.second);
  return pairs;
}

TEST(Terms, of_random_problems_are_those_of_the_oracle) {
  test::Random random(7);
  int grouped = 0, dilated = 0, first = 0, directions[3] = {};
  for (int i = 0; i < 600; ++i) {
    const ConvProblem problem = test::random_problem(random, 2000);
    const Geometry geometry = validate(problem).value();
    if (geometry.direction == Direction::bias_grad) continue;
    const std::map<std::int64_t, Pairs> wanted = by_brute_force(geometry);
    for (std::int64_t cell = 0; cell < elements(result_shape(geometry)); ++cell) {
      const Result<Terms> terms = terms_of(geometry, cell);
      ASSERT_TRUE(terms.ok());
      Pairs pairs = listed(*terms);
      std::sort(pairs.begin(), pairs.end());
      const auto found = wanted.find(cell);
      ASSERT_EQ(pairs, found == wanted.end() ? Pairs() : found->second) << to_text(problem) << ", cell " << cell;
      ASSERT_EQ(terms->total, static_cast<std::int64_t>(pairs.size()));
      ASSERT_GE(terms->skipped, 0);
    }
    grouped += geometry.groups > 1 ? 1 : 0;
    dilated += *std::max_element(geometry.dilation.begin(), geometry.dilation.end()) > 1 ? 1 : 0;
    first += geometry.layout == Layout::channels_first ? 1 : 0;
    ++directions[static_cast<int>(geometry.direction)];
  }
  for (const int count : {grouped, dilated, first, directions[0], directions[1], directions[2]}) EXPECT_GT(count, 20);
}

TEST(Terms, come_in_parts) {
  const Geometry geometry = validate(parse_problem("n2c3h7w7_k4r3s3_same_f32_filter_grad").value()).value();
  const Pairs all = listed(terms_of(geometry, 5).value());
  ASSERT_EQ(all.size(), 2u * 6 * 6);  // the corner tap misses a row and a column
  Pairs joined;
  for (std::int64_t from = 0; from < 72; from += 10) {
    const Pairs part = listed(terms_of(geometry, 5, from, 10).value());
    joined.insert(joined.end(), part.begin(), part.end());
  }
  EXPECT_EQ(joined, all);
  EXPECT_TRUE(terms_of(geometry, 5, 72).value().list.empty());
  EXPECT_TRUE(terms_of(geometry, 5, 0, 0).value().list.empty());
  EXPECT_EQ(terms_of(geometry, 5).value().skipped, 2 * (49 - 36));
}

TEST(Terms, name_their_tap) {
  const Geometry geometry = validate(parse_problem("n1c1h3w3_k1r3s3_same_f32_forward").value()).value();
  const Terms corner = terms_of(geometry, 0).value();
  ASSERT_EQ(corner.total, 4);
  EXPECT_EQ(corner.skipped, 5);
  EXPECT_EQ(corner.list[0].tap, (Extents{0, 1, 1}));
  EXPECT_EQ(corner.list[3].tap, (Extents{0, 2, 2}));
  EXPECT_EQ(corner.list[3].first, 4);
  EXPECT_EQ(corner.list[3].second, 8);
}

TEST(Terms, of_a_bias_gradient_are_all_of_its_channel) {
  Geometry geometry = validate(parse_problem("n2c1h2w2_k3r1s1_valid_f32_forward").value()).value();
  geometry.direction = Direction::bias_grad;
  const Terms terms = terms_of(geometry, 1).value();
  EXPECT_EQ(listed(terms), (Pairs{{1, -1}, {4, -1}, {7, -1}, {10, -1}, {13, -1}, {16, -1}, {19, -1}, {22, -1}}));
}

TEST(Terms, of_cells_that_are_not_there_are_refused) {
  const Geometry geometry = validate(parse_problem("n1c1h3w3_k1r3s3_same_f32_forward").value()).value();
  for (const std::int64_t cell : {std::int64_t{-1}, std::int64_t{9}, INT64_MAX}) {
    const Result<Terms> terms = terms_of(geometry, cell);
    ASSERT_FALSE(terms.ok());
    EXPECT_EQ(terms.status().argument(), "result");
  }
}

}  // namespace
}  // namespace convgrad

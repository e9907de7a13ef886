// Every engine against the oracle: every multiply-add listed by brute force, exact integers.
#include <gtest/gtest.h>

#include "support/problems.h"

namespace convgrad {
namespace {

constexpr int kShards = 8;  // so that ctest can run them side by side

class Definition : public testing::TestWithParam<int> {};

TEST_P(Definition, random_problems_match_to_the_last_bit) {
  const std::int64_t count = test::problem_count() / kShards;
  test::Random random(1000 + static_cast<std::uint64_t>(GetParam()));
  for (std::int64_t i = 0; i < count; ++i) {
    ConvProblem problem = test::random_problem(random, 4000);
    Geometry geometry = validate(problem).value();
    if (i % 10 == 0) {
      // Gradients of volumes refuse some empty problems that forward takes.
      problem.direction = Direction::bias_grad;
      if (!validate(problem).ok()) continue;
      geometry.direction = Direction::bias_grad;
    }
    const test::Operands given = test::random_operands(random, geometry);
    const Tensor wanted = test::by_definition(geometry, given.first, given.second);
    for (const EngineInfo& engine : all_engines()) {
      if (!engine.obstacle.empty()) continue;
      const Result<Tensor> got = compute(problem, given.first, given.second, {.engine = engine.name});
      ASSERT_TRUE(got.ok()) << engine.name << ", " << to_text(problem) << ": " << got.status().message();
      ASSERT_EQ(test::difference(*got, wanted), "")
          << "replay: " << engine.name << ", problem " << i << " of shard " << GetParam() << ": " << to_text(problem);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, Definition, testing::Range(0, kShards));

TEST(Definition, int32_wraps_modulo_2_to_the_32) {
  ConvProblem problem = parse_problem("n1c1h1w1_k1r1s1_valid_i32_forward").value();
  const Tensor x = Tensor::from<std::int32_t>({1, 1, 1, 1}, std::vector<std::int32_t>{65536}).value();
  const Tensor f = Tensor::from<std::int32_t>({1, 1, 1, 1}, std::vector<std::int32_t>{65537}).value();
  EXPECT_EQ(compute(problem, x, f).value().as<std::int32_t>()[0], 65536);
  problem.direction = Direction::input_grad;
  EXPECT_EQ(compute(problem, f, x).value().as<std::int32_t>()[0], 65536);
}

TEST(Definition, int32_matches_for_random_problems) {
  test::Random random(77);
  for (int i = 0; i < 500; ++i) {
    ConvProblem problem = test::random_problem(random, 4000);
    if (problem.rank == 3 || problem.direction == Direction::filter_grad) continue;
    problem.dtype = DType::i32;
    const Geometry geometry = validate(problem).value();
    const test::Operands given = test::random_operands(random, geometry);
    ASSERT_EQ(test::difference(compute(problem, given.first, given.second).value(),
                               test::by_definition(geometry, given.first, given.second)),
              "")
        << to_text(problem);
  }
}

// 16-bit sums are kept wide and rounded once: 4096 ones are 4096, although 2048 + 1 = 2048 in f16
// and 256 + 1 = 256 in bf16.
TEST(Definition, sixteen_bit_sums_round_once) {
  for (const char* dtype : {"f16", "bf16"}) {
    const ConvProblem problem =
        parse_problem(std::string("n16c1h16w16_k1r1s1_valid_") + dtype + "_filter_grad").value();
    test::Random random(1);
    const Tensor ones = test::random_integers(random, problem.dtype, {16, 16, 16, 1}, 1, 1);
    EXPECT_EQ(compute(problem, ones, ones).value().at(0), 4096) << dtype;
  }
}

// Terms that cancel to nothing but one: the reference's double-width sums keep it in f32 and f64.
TEST(Definition, cancelling_sums_keep_their_small_term_in_the_reference) {
  const Policy reference{.engine = "reference"};
  const ConvProblem f64 = parse_problem("n1c3w1_k1s1_valid_f64_forward").value();
  const Tensor x = Tensor::from<double>({1, 1, 3}, std::vector<double>{1e16, 1.0, -1e16}).value();
  const Tensor ones = Tensor::from<double>({1, 3, 1}, std::vector<double>{1, 1, 1}).value();
  EXPECT_EQ(compute(f64, x, ones, reference).value().at(0), 1.0);
  const ConvProblem f32 = parse_problem("n1c3w1_k1s1_valid_f32_forward").value();
  const Tensor y = Tensor::from<float>({1, 1, 3}, std::vector<float>{1e8f, 1.0f, -1e8f}).value();
  const Tensor one = Tensor::from<float>({1, 3, 1}, std::vector<float>{1, 1, 1}).value();
  EXPECT_EQ(compute(f32, y, one, reference).value().at(0), 1.0);
}

}  // namespace
}  // namespace convgrad

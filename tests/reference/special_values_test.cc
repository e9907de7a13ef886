// NaN and infinity appear exactly where the mathematics says; zero keeps its sign rules.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/oracle.h"
#include "support/problems.h"

namespace convgrad {
namespace {

const double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

// 0 finite, 1 nan, 2 +inf, 3 -inf
int kind(double value) { return std::isnan(value) ? 1 : !std::isinf(value) ? 0 : value > 0 ? 2 : 3; }

TEST(SpecialValues, appear_exactly_where_the_sum_has_them) {
  test::Random random(31);
  for (int round = 0; round < 1500; ++round) {
    const ConvProblem problem = test::random_problem(random, 2000);
    const Geometry geometry = validate(problem).value();
    test::Operands given = test::random_operands(random, geometry);
    for (Tensor* tensor : {&given.first, &given.second}) {
      for (int i = 0; i < 3 && tensor->size() > 0; ++i) {
        test::set(*tensor, random.between(0, tensor->size() - 1), random.one_of({kInf, -kInf, kNan, 0.0}));
      }
    }
    const Tensor got = compute(problem, given.first, given.second).value();
    const Tensor wanted = test::by_definition(geometry, given.first, given.second);
    for (std::int64_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(kind(got.at(i)), kind(wanted.at(i))) << to_text(problem) << " element " << i;
    }
  }
}

TEST(SpecialValues, padding_is_never_multiplied) {
  // A 3-wide filter with an infinite first tap: the outputs whose first tap meets padding stay finite.
  const ConvProblem problem = parse_problem("n1c1w4_k1s3_same_f32_forward").value();
  const Tensor x = Tensor::from<float>({1, 4, 1}, std::vector<float>{1, 2, 3, 4}).value();
  const Tensor f = Tensor::from<float>({3, 1, 1}, std::vector<float>{HUGE_VALF, 1, 1}).value();
  const Tensor y = compute(problem, x, f).value();
  EXPECT_EQ(y.at(0), 3);
  EXPECT_EQ(y.at(1), kInf);
}

TEST(SpecialValues, zero_times_nan_stays_nan) {
  const ConvProblem problem = parse_problem("n1c1w1_k1s1_valid_f32_filter_grad").value();
  const Tensor zero = Tensor::zeros(DType::f32, {1, 1, 1}).value();
  const Tensor nan = Tensor::from<float>({1, 1, 1}, std::vector<float>{std::nanf("")}).value();
  EXPECT_TRUE(std::isnan(compute(problem, zero, nan).value().at(0)));
}

TEST(SpecialValues, an_empty_sum_is_positive_zero) {
  // Stride 3, filter 1: two of three cells are read by nobody.
  const ConvProblem problem = parse_problem("n1c1w6_k1s1_st3_valid_f64_input_grad").value();
  const Tensor f = Tensor::from<double>({1, 1, 1}, std::vector<double>{-1}).value();
  const Tensor dy = Tensor::from<double>({1, 2, 1}, std::vector<double>{kNan, 5}).value();
  const Tensor dx = compute(problem, f, dy).value();
  EXPECT_TRUE(std::isnan(dx.at(0)));
  for (std::int64_t i : {1, 2, 4, 5}) {
    EXPECT_EQ(dx.at(i), 0.0);
    EXPECT_FALSE(std::signbit(dx.at(i)));
  }
  EXPECT_EQ(dx.at(3), -5);
}

// Sizes that nothing bounds beside one that is 0: the answer is zeros, at once.
TEST(SpecialValues, huge_empty_problems_take_no_time) {
  for (const char* text :
       {"n1c1h2w2_k0r1000000000000s1_pad1000000000000.0x0.0_f32_input_grad",
        "n0c1h1000000000w1000_k1r1s1_valid_f32_filter_grad", "n1c1h1000000000000w0_k2r1s1_valid_f32_bias_grad"}) {
    const ConvProblem problem = parse_problem(text).value();
    const Result<Geometry> g = validate(problem);
    ASSERT_TRUE(g.ok()) << g.status().message();
    const std::vector<Operand> wanted = operands(*g);
    const Tensor first = Tensor::zeros(DType::f32, wanted[0].shape).value();
    const Tensor second = wanted.size() > 1 ? Tensor::zeros(DType::f32, wanted[1].shape).value() : Tensor();
    const Tensor got = compute(problem, first, second).value();
    for (std::int64_t i = 0; i < got.size(); ++i) ASSERT_EQ(got.at(i), 0.0);
  }
}

TEST(SpecialValues, f64_overflow_inside_a_sum_that_ends_finite_stays_finite_in_the_reference) {
  const ConvProblem problem = parse_problem("n1c3w1_k1s1_valid_f64_forward").value();
  const Tensor x = Tensor::from<double>({1, 1, 3}, std::vector<double>{1.7e308, 1.7e308, -1.7e308}).value();
  const Tensor ones = Tensor::from<double>({1, 3, 1}, std::vector<double>{1, 1, 1}).value();
  EXPECT_EQ(compute(problem, x, ones, {.engine = "reference"}).value().at(0), 1.7e308);
}

TEST(SpecialValues, sixteen_bit_stores_overflow_to_infinity) {
  const ConvProblem problem = parse_problem("n1c2w1_k1s1_valid_f16_forward").value();
  const Tensor x = Tensor::from<Half>({1, 1, 2}, std::vector<Half>{Half::from(60000.0), Half::from(60000.0)}).value();
  const Tensor ones = Tensor::from<Half>({1, 2, 1}, std::vector<Half>{Half::from(1.0), Half::from(1.0)}).value();
  EXPECT_EQ(compute(problem, x, ones).value().at(0), kInf);
}

TEST(SpecialValues, subnormals_are_not_flushed) {
  const ConvProblem problem = parse_problem("n1c1w1_k1s1_valid_f32_forward").value();
  const Tensor x = Tensor::from<float>({1, 1, 1}, std::vector<float>{0x1p-140f}).value();
  const Tensor half = Tensor::from<float>({1, 1, 1}, std::vector<float>{0.5f}).value();
  EXPECT_EQ(compute(problem, x, half).value().at(0), 0x1p-141);
}

}  // namespace
}  // namespace convgrad

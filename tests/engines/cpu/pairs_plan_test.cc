// Plans where CONVGRAD_ISA names instructions that multiply in pairs: the name is read once a program, so this is a
// program of its own.
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

#include "support/problems.h"

namespace convgrad {
namespace {

const bool asked = setenv("CONVGRAD_ISA", "amx_model", 1) == 0;

std::string layer(const std::string& end) { return "n2c32h9w9_k32r3s3_same_" + end; }
Plan plan_of(const std::string& text, const Policy& policy = {}) {
  return make_plan(parse_problem(text).value(), policy).value();
}

TEST(PairPlans, are_named_and_in_standard_math) {
  ASSERT_TRUE(asked);
  if (cpu_isa().empty()) GTEST_SKIP() << "the CPU engine does not run here";
  EXPECT_EQ(cpu_isa(), "amx_model");
  for (const std::string direction : {"forward", "input_grad", "filter_grad"}) {
    const Plan plan = plan_of(layer("bf16_" + direction));
    EXPECT_EQ(plan.kernel, direction + "_dense_bf16_amx_model");
    EXPECT_EQ(plan.math, MathMode::standard);
    EXPECT_NE(plan.why.find("in pairs"), std::string::npos) << plan.why;
  }
}

TEST(PairPlans, are_not_made_under_canonical_math_nor_for_other_layers) {
  if (cpu_isa().empty()) GTEST_SKIP() << "the CPU engine does not run here";
  const auto by_pairs = [](const Plan& plan) { return plan.kernel.find("amx_model") != std::string::npos; };
  for (const std::string direction : {"forward", "input_grad", "filter_grad"}) {
    EXPECT_FALSE(by_pairs(plan_of(layer("bf16_" + direction), {.math = MathMode::canonical})));
    EXPECT_FALSE(by_pairs(plan_of(layer("f16_" + direction))));
    EXPECT_FALSE(by_pairs(plan_of(layer("g32_bf16_" + direction))));
  }
  EXPECT_FALSE(by_pairs(plan_of(layer("bf16_bias_grad"))));
}

// An infinity sends the filter gradient to the program of the canonical plan: the same bits.
TEST(PairPlans, run_the_canonical_program_beside_an_infinity) {
  if (cpu_isa().empty()) GTEST_SKIP() << "the CPU engine does not run here";
  test::Random random(80);
  const Geometry g = validate(parse_problem(layer("bf16_filter_grad")).value()).value();
  test::Operands given = test::real_operands(random, g);
  test::set(given.first, 100, std::numeric_limits<double>::infinity());
  const auto result = [&](const Policy& policy) {
    Tensor dw = Tensor::zeros(g.dtype, result_shape(g)).value();
    EXPECT_TRUE(run(make_plan(g, policy).value(), {given.first, given.second, dw.mutable_view(), {}}, policy).ok());
    return dw;
  };
  EXPECT_EQ(test::difference(result({}), result({.math = MathMode::canonical})), "");
}

}  // namespace
}  // namespace convgrad

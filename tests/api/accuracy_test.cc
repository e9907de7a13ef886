// The stated error bound on data where it is hard to keep: long sums, one sign, wide exponents.
#include <gtest/gtest.h>

#include "support/accuracy.h"
#include "support/problems.h"

namespace convgrad {
namespace {

using test::Exact;

enum class Data { signed_reals, one_sign, wide_exponents };

Tensor filled(test::Random& random, DType dtype, const Shape& shape, Data data) {
  Tensor tensor = Tensor::zeros(dtype, shape).value();
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const double value = data == Data::one_sign ? random.unit() : 2 * random.unit() - 1;
    test::set(tensor, i,
              data == Data::wide_exponents ? std::ldexp(value, static_cast<int>(random.between(-10, 4))) : value);
  }
  return tensor;
}

TEST(Accuracy, stays_within_the_stated_bound) {
  test::Random random(51);
  for (const char* shape : {"n8c2h40w40_k3r2s2_same_", "n1c1h256w256_k1r1s1_valid_", "n2c64h5w5_k8r3s3_same_",
                            "n2c3d9h9w9_k4t3r3s3_st2_same_"}) {
    for (const char* dtype : {"f16", "bf16", "f32", "f64"}) {
      for (const char* direction : {"_forward", "_input_grad", "_filter_grad"}) {
        for (Data data : {Data::signed_reals, Data::one_sign, Data::wide_exponents}) {
          const ConvProblem problem = parse_problem(std::string(shape) + dtype + direction).value();
          const Geometry g = validate(problem).value();
          const std::vector<Operand> wanted = operands(g);
          const Tensor first = filled(random, g.dtype, wanted[0].shape, data);
          const Tensor second = filled(random, g.dtype, wanted[1].shape, data);
          const double worst = test::worst_share(g, first, second, compute(problem, first, second).value());
          EXPECT_LE(worst, 1.0) << to_text(problem);
        }
      }
    }
  }
}

// Ten million terms of one sign: a plain f32 chain would be off by 10^5 u here.
TEST(Accuracy, does_not_fade_with_the_length_of_a_sum) {
  for (const char* text : {"f32_filter_grad", "bf16_filter_grad", "f32_bias_grad"}) {
    const ConvProblem problem = parse_problem(std::string("n1c1h3200w3200_k1r1s1_valid_") + text).value();
    test::Random random(52);
    const bool bias = problem.direction == Direction::bias_grad;
    const Tensor x = filled(random, problem.dtype, {1, 3200, 3200, 1}, Data::one_sign);
    const Tensor dy = bias ? Tensor() : filled(random, problem.dtype, {1, 3200, 3200, 1}, Data::one_sign);
    Exact sum = 0;
    for (std::int64_t i = 0; i < x.size(); ++i)
      sum += static_cast<Exact>(x.at(i)) * (bias ? Exact(1) : static_cast<Exact>(dy.at(i)));
    const auto exact = static_cast<double>(sum);
    const double got = compute(problem, x, dy).value().at(0);
    EXPECT_LE(std::fabs(got - exact), test::error_bound(problem.dtype, exact, exact)) << to_text(problem);
  }
}

}  // namespace
}  // namespace convgrad

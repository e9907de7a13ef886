// The problem string: what it says, and that printing and parsing are inverse.
#include <gtest/gtest.h>

#include "convgrad/geometry.h"
#include "support/problems.h"

namespace convgrad {
namespace {

std::string again(const std::string& text) {
  const Result<ConvProblem> problem = parse_problem(text);
  return problem.ok() ? to_text(*problem) : problem.status().message();
}

TEST(ProblemString, keeps_its_canonical_form) {
  for (const char* text : {
           "n2c16h9w9_k8r3s3_st2_di1_same_g1_f32_filter_grad",
           "n1c4d5h6w7_k8t3r3s3_st1x2x2_di2_pad1.0x0.1x2.2_g2_chfirst_bf16_input_grad",
           "n3c5w100_k5s7_st1_di3_valid_g5_f64_forward",
           "n0c1h0w0_k0r1s1_st1_di1_valid_g1_f16_bias_grad",
           "n2c5h9w9_k8r3s3_st0_di-1_pad-1.2x0.3_fc2_i32_forward",
           "n1c1h4w4_k1r3s3_st1_di1_valid_g1_out2x7_f32_filter_grad",
       }) {
    EXPECT_EQ(again(text), text);
  }
}

TEST(ProblemString, has_defaults_and_takes_parts_in_any_order) {
  EXPECT_EQ(again("n1c6h9w9_k8r3s3_same_filter_grad"), "n1c6h9w9_k8r3s3_st1_di1_same_g1_f32_filter_grad");
  EXPECT_EQ(again("n1c6h9w9_k8r3s3_f64_chfirst_g2_same_di2_st3_filter_grad"),
            "n1c6h9w9_k8r3s3_st3_di2_same_g2_chfirst_f64_filter_grad");
  EXPECT_EQ(again("n1c6h9w9_k8r3s3_pad1.2_forward"), "n1c6h9w9_k8r3s3_st1_di1_pad1.2x1.2_g1_f32_forward");
}

TEST(ProblemString, refuses_what_it_cannot_read) {
  for (const char* text : {
           "",
           "_",
           "filter_grad",
           "_filter_grad",
           "n1c1h4w4_k1r3s3_same",
           "n1c1h4w4_k1r3s3_forward",
           "n1c1h4w4_k1r3s3_same__f32_forward",
           "n1c1h4w4_k1r3s3_same_f32__forward",
           "n1c1h4w4_k1r3_same_forward",
           "n1c1h4w4_k1t3r3s3_same_forward",
           "n1c1d4h4w4_k1r3s3_same_forward",
           "n1h4w4_k1r3s3_same_forward",
           "n1c1h4w4_k1r3s3_same_valid_forward",
           "n1c1h4w4_k1r3s3_same_st1_st1_forward",
           "n1c1h4w4_k1r3s3_same_st1x2x3_forward",
           "n1c1h4w4_k1r3s3_same_st_forward",
           "n1c1h4w4_k1r3s3_same_st1.5_forward",
           "n1c1h4w4_k1r3s3_pad1_forward",
           "n1c1h4w4_k1r3s3_pad1.2x_forward",
           "n1c1h4w4_k1r3s3_pad1.2x1.2x1.2_forward",
           "n1c1h4w4_k1r3s3_same_g0_forward",
           "n1c4h4w4_k1r3s3_same_g3_forward",
           "n1c4h4w4_k1r3s3_same_g1_fc4_forward",
           "n1c1h4w4_k1r3s3_same_f33_forward",
           "n1c1h4w4_k1r3s3_same_float_forward",
           "n99999999999999999999c1h4w4_k1r3s3_same_forward",
           "n1c1h4w4_k1r3s3_same_f32_backward",
           "n1c1h4w4_k1r3s3_SAME_forward",
           "n1 c1h4w4_k1r3s3_same_forward",
           "n1c1h4w4_k1r3s3_same_forward ",
       }) {
    const Result<ConvProblem> problem = parse_problem(text);
    ASSERT_FALSE(problem.ok()) << text;
    EXPECT_EQ(problem.status().rule(), "problem-string") << text;
    EXPECT_EQ(problem.status().code(), StatusCode::invalid_argument) << text;
    EXPECT_NE(problem.status().wanted(), "") << text;
  }
}

TEST(ProblemString, shortens_hostile_text_in_its_answer) {
  const std::string text(1 << 20, 'n');
  EXPECT_LT(parse_problem(text).status().message().size(), 1000u);
}

// Any numbers at all, legal or not: print, parse, print gives the same text and the same verdict.
TEST(ProblemString, round_trips_random_numbers) {
  test::Random random(11);
  const auto number = [&random]() -> std::int64_t {
    return random.one_of({std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{7}, std::int64_t{-3},
                          std::int64_t{2147483648}, std::numeric_limits<std::int64_t>::max(),
                          std::numeric_limits<std::int64_t>::min(), random.between(-100, 100)});
  };
  for (int round = 0; round < 20000; ++round) {
    ConvProblem p;
    p.direction =
        random.one_of({Direction::forward, Direction::input_grad, Direction::filter_grad, Direction::bias_grad});
    p.rank = static_cast<int>(random.between(1, 3));
    p.dtype = random.one_of({DType::f16, DType::bf16, DType::f32, DType::f64, DType::i32});
    p.layout = random.one_of({Layout::channels_last, Layout::channels_first});
    p.padding = random.one_of({PaddingKind::same, PaddingKind::valid, PaddingKind::explicit_pairs});
    p.n = number(), p.c_in = number(), p.c_out = number(), p.filter_c = number();
    if (random.between(0, 1) == 0) p.out.emplace();
    for (std::size_t i = 0; i < 3; ++i) {
      p.in[i] = number(), p.filter[i] = number(), p.stride[i] = number(), p.dilation[i] = number();
      p.pads[i] = {number(), number()};
      if (p.out) (*p.out)[i] = number();
    }
    const std::string text = to_text(p);
    const Result<ConvProblem> parsed = parse_problem(text);
    ASSERT_TRUE(parsed.ok()) << text << ": " << parsed.status().message();
    ASSERT_EQ(to_text(*parsed), text);
    ASSERT_EQ(validate(*parsed).status().message(), validate(p).status().message()) << text;
  }
}

TEST(ProblemString, of_a_geometry_validates_to_that_geometry) {
  test::Random random(12);
  for (int round = 0; round < 2000; ++round) {
    const Geometry geometry = validate(test::random_problem(random)).value();
    const Result<Geometry> back = validate(parse_problem(to_text(problem_of(geometry))).value());
    ASSERT_TRUE(back.ok()) << to_text(problem_of(geometry)) << back.status().message();
    ASSERT_EQ(*back, geometry);
  }
}

}  // namespace
}  // namespace convgrad

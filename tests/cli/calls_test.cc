// convgrad check with a problem or with an op and its arguments.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "convgrad/convgrad.h"

namespace convgrad::test {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

Outcome check(Words words) {
  words.insert(words.begin(), "check");
  return program(words);
}

TEST(CheckProblem, legal_ones_show_the_result) {
  const Outcome ok = check({"n2c16h9w9_k8r3s3_st2_same_f32_filter_grad"});
  EXPECT_EQ(ok.code, 0);
  EXPECT_EQ(ok.out, "ok result f32 [3,3,16,8]\n");
  EXPECT_EQ(ok.err, "");
  EXPECT_EQ(check({"n2c4w9_k8s3_valid_i32_forward"}).out, "ok result i32 [2,7,8]\n");
}

TEST(CheckProblem, wrong_ones_are_refused_with_the_rule) {
  expect_refused(check({"n2c16h9w9"}), "problem-string", "'n2c16h9w9'");
  expect_refused(check({"n2c16h9w9_k8r3s3_st0_same_f32_filter_grad"}), "stride-range", "strides");
  expect_refused(check({"n2c16h9w9_k8r3s3_same_i32_filter_grad"}), "dtype", "int32");
  expect_refused(check({"n-1c16h9w9_k8r3s3_same_f32_filter_grad"}), "negative-dim", "-1");
  expect_refused(check({"n1c1h1w1_k1r3s3_valid_f32_forward"}), "negative-output", "negative");
}

TEST(CheckProblem, json_answers_both_ways) {
  const Outcome ok = check({"n2c16h9w9_k8r3s3_st2_same_f32_filter_grad", "--json"});
  EXPECT_EQ(ok.code, 0);
  EXPECT_EQ(json::parse(ok.out), json({{"ok", true},
                                       {"code", "ok"},
                                       {"rule", ""},
                                       {"argument", ""},
                                       {"got", ""},
                                       {"wanted", ""},
                                       {"message", ""},
                                       {"result_shape", {3, 3, 16, 8}},
                                       {"problem", "n2c16h9w9_k8r3s3_st2_same_f32_filter_grad"}}));
  const Outcome refused = check({"n2c16h9w9_k8r3s3_st0_same_f32_filter_grad", "--json"});
  EXPECT_EQ(refused.code, 2);
  const json verdict = json::parse(refused.out);
  EXPECT_EQ(verdict["ok"], false);
  EXPECT_EQ(verdict["code"], "invalid_argument");
  EXPECT_EQ(verdict["rule"], "stride-range");
  EXPECT_EQ(verdict["argument"], "strides");
  EXPECT_EQ(verdict["result_shape"], json());
  EXPECT_NE(refused.err.find(verdict["message"].get<std::string>()), std::string::npos);
  EXPECT_EQ(json::parse(check({"\xff\xfe", "--json"}).out)["rule"], "problem-string");
}

TEST(CheckCall, defaults_are_ones_and_channels_last) {
  EXPECT_EQ(check({"Conv2D", "input=1,5,6,3", "filter=3,3,3,8", "padding=SAME"}).out, "ok result f32 [1,5,6,8]\n");
  EXPECT_EQ(check({"conv3d", "dtype=bfloat16", "input=1,5,6,7,3", "filter=3,3,3,3,8", "padding=VALID"}).out,
            "ok result bf16 [1,3,4,5,8]\n");
}

TEST(CheckCall, every_key_reaches_the_library) {
  EXPECT_EQ(check({"Conv2D", "input=1,3,9,9", "filter=3,3,3,8", "strides=1,1,2,2", "dilations=1,1,2,2",
                   "padding=EXPLICIT", "explicit_paddings=0,0,0,0,1,2,3,4", "data_format=NCHW", "dtype=float64"})
                .out,
            "ok result f64 [1,8,4,6]\n");
  EXPECT_EQ(check({"Conv2DBackpropInput", "input_sizes=2,9,9,4", "filter=3,3,4,6", "out_backprop=2,5,5,6",
                   "strides=1,2,2,1", "padding=SAME"})
                .out,
            "ok result f32 [2,9,9,4]\n");
  EXPECT_EQ(check({"Conv2DBackpropInput", "input_sizes=9,9", "filter=3,3,4,6", "out_backprop=2,5,5,6",
                   "strides=1,2,2,1", "padding=SAME"})
                .out,
            "ok result f32 [2,9,9,4]\n");
}

TEST(CheckCall, legal_calls_come_back_as_a_problem_string) {
  const Outcome ok = check({"Conv2DBackpropFilter", "input=2,9,9,4", "filter_sizes=3,3,4,6", "out_backprop=2,5,5,6",
                            "strides=1,2,2,1", "padding=SAME", "--json"});
  const std::string problem = json::parse(ok.out)["problem"];
  const Geometry geometry = validate(parse_problem(problem).value()).value();
  EXPECT_EQ(result_shape(geometry), (Shape{3, 3, 4, 6}));
  EXPECT_EQ(geometry.direction, Direction::filter_grad);
}

TEST(CheckCall, the_advisory_call_is_refused) {
  expect_refused(check({"Conv2DBackpropFilter", "input=1,1,1,2", "filter_sizes=1,1,1,1", "out_backprop=1,1,1,1",
                        "strides=1,66,49,1", "padding=VALID"}),
                 "group-divisibility", "Conv2DBackpropFilter");
}

TEST(CheckCall, scalars_and_empty_lists_are_what_they_say) {
  const Words gradient = {"Conv2DBackpropFilter", "input=1,4,4,1", "padding=SAME"};
  Words words = gradient;
  words.insert(words.end(), {"filter_sizes=scalar:0", "out_backprop=1,4,4,1"});
  expect_refused(check(words), "size-vector-rank", "filter_sizes");
  words = gradient;
  words.insert(words.end(), {"filter_sizes=", "out_backprop=1,4,4,1"});
  expect_refused(check(words), "size-vector-length", "0 entries");
  words = gradient;
  words.insert(words.end(), {"filter_sizes=3,3,1,1", "out_backprop="});
  expect_refused(check(words), "rank", "out_backprop");
  words = gradient;
  words.insert(words.end(), {"filter_sizes=3,3,1,1", "strides="});
  expect_refused(check(words), "stride-length", "strides");
}

TEST(CheckCall, what_is_no_integer_is_refused) {
  const auto with = [](const std::string& word) {
    return check({"Conv2D", "input=1,5,5,3", "filter=3,3,3,8", "padding=SAME", word});
  };
  expect_refused(with("strides=1,1.5,1,1"), "attr-type", "(strides: got '1.5', wanted an integer)");
  expect_refused(with("dilations=1,x,1,1"), "attr-type", "(dilations: got 'x', wanted an integer)");
  expect_refused(with("strides=1,,1,1"), "attr-type", "(strides: got '', wanted an integer)");
  expect_refused(with("strides=1,1,1,1,"), "attr-type", "strides");
  expect_refused(with("strides= 1,1,1,1"), "attr-type", "strides");
  expect_refused(with("explicit_paddings=1e3"), "attr-type", "explicit_paddings");
}

TEST(CheckCall, numbers_beyond_64_bits_are_refused) {
  const auto with = [](const std::string& word) { return check({"Conv2D", "padding=SAME", word}); };
  expect_refused(with("strides=1,99999999999999999999,1,1"), "stride-range", "strides: got 99999999999999999999");
  expect_refused(with("dilations=1,-99999999999999999999,1,1"), "dilation-range", "dilations");
  expect_refused(with("input=9223372036854775808"), "overflow", "input");
  expect_refused(
      check({"Conv2D", "input=1,5,5,3", "filter=3,3,3,8", "padding=SAME", "strides=1,9223372036854775807,1,1"}),
      "stride-range", "strides");
  expect_refused(check({"Conv2D", "input=9223372036854775807,5,5,3", "filter=3,3,3,8", "padding=SAME"}), "overflow",
                 "input");
}

TEST(CheckCall, mistyped_words_get_a_suggestion) {
  expect_refused(check({"Conv2D", "fliter=1,1,1,1"}), "problem-string", "did you mean 'filter'?");
  expect_refused(check({"Conv2DBackpropFiltr", "input=1"}), "op-name", "did you mean 'Conv2DBackpropFilter'?");
  expect_refused(check({"Conv2DBackpropFiltr"}), "op-name", "did you mean 'Conv2DBackpropFilter'?");
  expect_refused(check({"Conv2D", "dtype=flaot32"}), "dtype", "did you mean 'float32'?");
  expect_refused(check({"Conv2D", "filter_sizes=1"}), "problem-string", "Conv2D has no argument 'filter_sizes'");
  expect_refused(check({"Conv2D", "input"}), "problem-string", "key=value");
  expect_refused(check({"Conv2D", "input=1", "input=2"}), "problem-string", "input is given twice");
  expect_refused(check({"Conv2D", "padding=Same", "input=1,1,1,1", "filter=1,1,1,1"}), "padding-name", "\"Same\"");
  expect_refused(check({"Conv2D", "padding=SAME", "data_format=NWHC"}), "format-name", "NWHC");
  expect_refused(check({"Conv2D"}), "padding-name", "padding");
}

}  // namespace
}  // namespace convgrad::test

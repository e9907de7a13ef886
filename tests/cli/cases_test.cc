// convgrad check --case: shapes of the file, and JSON that is anything else.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace convgrad::test {
namespace {

using nlohmann::json;

json legal(const std::string& id) {
  return {{"id", id},
          {"op", "Conv2D"},
          {"dtype", "float32"},
          {"tensor_shapes", {{"input", {1, 5, 5, 3}}, {"filter", {3, 3, 3, 8}}}},
          {"attrs", {{"padding", "SAME"}}}};
}

Outcome check(const std::string& text, bool as_json = false) {
  std::vector<std::string> args = {"check", "--case", "-"};
  if (as_json) args.push_back("--json");
  return program(args, text);
}

// One case with one field replaced, e.g. at("/attrs/strides").
Outcome check_with(const char* pointer, const json& value) {
  json one = legal("x");
  one[json::json_pointer(pointer)] = value;
  return check(one.dump());
}

// The single case is refused: its line on stdout, its sentence on stderr.
void expect_case_refused(const Outcome& outcome, const std::string& rule, const std::string& part) {
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.out.find(" refused invalid_argument " + rule + " "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.err.find("[invalid_argument, rule " + rule + "]\n"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err << "wanted " << part;
}

TEST(Cases, object_array_and_cases_are_the_same) {
  const json two = {legal("a"), legal("b")};
  EXPECT_EQ(check(legal("a").dump()).out, "a ok result f32 [1,5,5,8]\n");
  const std::string both = "a ok result f32 [1,5,5,8]\nb ok result f32 [1,5,5,8]\n";
  EXPECT_EQ(check(two.dump()).out, both);
  const Outcome wrapped = check(json{{"title", "t"}, {"cases", two}}.dump());
  EXPECT_EQ(wrapped.out, both);
  EXPECT_EQ(wrapped.code, 0);
  EXPECT_EQ(wrapped.err, "");
}

TEST(Cases, come_from_a_file_too) {
  write_file(scratch("cases.json"), json{legal("a")}.dump());
  EXPECT_EQ(program({"check", "--case", scratch("cases.json")}).out, "a ok result f32 [1,5,5,8]\n");
}

TEST(Cases, one_bad_case_leaves_the_others) {
  json bad = legal("bad");
  bad["attrs"]["strides"] = {1, 0, 1, 1};
  const Outcome outcome = check(json{legal("a"), bad, 7, legal("b")}.dump());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "convgrad: 2 of 4 cases are refused\n");
  EXPECT_NE(outcome.out.find("bad refused invalid_argument stride-range Conv2D: "), std::string::npos);
  EXPECT_NE(outcome.out.find("case-3 refused invalid_argument attr-type "), std::string::npos);
  EXPECT_TRUE(outcome.out.ends_with("b ok result f32 [1,5,5,8]\n")) << outcome.out;
}

TEST(Cases, json_is_one_object_a_line) {
  json bad = legal("bad");
  bad["attrs"]["padding"] = "NONE";
  std::istringstream lines(check(json{legal("a"), bad}.dump(), true).out);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(json::parse(line)["id"], "a");
  EXPECT_EQ(json::parse(line)["result_shape"], json({1, 5, 5, 8}));
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(json::parse(line)["ok"], false);
  EXPECT_EQ(json::parse(line)["rule"], "padding-name");
  EXPECT_FALSE(std::getline(lines, line));
}

TEST(Cases, values_of_the_wrong_type_are_named) {
  expect_case_refused(check_with("/attrs/strides", {1, 1.5, 1, 1}), "attr-type",
                      "(strides: got 1.5, wanted an integer)");
  expect_case_refused(check_with("/attrs/strides", {1, nullptr, 1, 1}), "attr-type", "got null");
  expect_case_refused(check_with("/attrs/strides", "1,1,1,1"), "attr-type", "a list of integers");
  expect_case_refused(check_with("/attrs/strides", {1, true, 1, 1}), "attr-type", "got true");
  expect_case_refused(check_with("/attrs/dilations", {1, {1}, 1, 1}), "attr-type", "got an array");
  expect_case_refused(check_with("/attrs/padding", nullptr), "attr-type", "padding");
  expect_case_refused(check_with("/attrs", 5), "attr-type", "attrs");
  expect_case_refused(check_with("/tensor_shapes", {1, 2}), "attr-type", "tensor_shapes");
  expect_case_refused(check_with("/tensor_shapes/input", "x"), "attr-type", "input");
  expect_case_refused(check_with("/dtype", 32), "attr-type", "dtype");
  expect_case_refused(check_with("/dtype", "float31"), "dtype", "did you mean");
  expect_case_refused(check_with("/op", 1), "attr-type", "op");
  expect_case_refused(check_with("/op", "Conv2DD"), "op-name", "did you mean 'Conv2D'?");
  expect_case_refused(check_with("/data_format", 1), "attr-type", "data_format");
  expect_case_refused(check("{}"), "problem-string", "no op");
}

TEST(Cases, missing_fields_are_the_librarys_business) {
  json one = legal("x");
  one["tensor_shapes"].erase("filter");
  expect_case_refused(check(one.dump()), "rank", "filter is not given");
  one = legal("x");
  one.erase("tensor_shapes");
  expect_case_refused(check(one.dump()), "rank", "input is not given");
  one = legal("x");
  one.erase("attrs");
  expect_case_refused(check(one.dump()), "padding-name", "padding");
}

TEST(Cases, numbers_beyond_64_bits_are_refused_by_their_argument) {
  const auto with = [](const std::string& field, const std::string& number) {
    return check(R"({"op":"Conv2D","attrs":{"padding":"SAME",")" + field + R"(":[1,)" + number + ",1,1]}}");
  };
  expect_case_refused(with("strides", "99999999999999999999"), "stride-range", "strides");
  expect_case_refused(with("strides", "9223372036854775808"), "stride-range", "9223372036854775808");
  expect_case_refused(with("strides", "-9223372036854775809"), "stride-range", "strides");
  expect_case_refused(with("dilations", "1e30"), "dilation-range", "dilations");
  expect_case_refused(with("explicit_paddings", "18446744073709551616"), "overflow", "explicit_paddings");
  expect_refused(with("strides", "1e999"), "problem-string", "1e999");
}

TEST(Cases, size_vectors_keep_their_rank) {
  json one = {{"op", "Conv2DBackpropFilter"},
              {"tensor_shapes", {{"input", {1, 4, 4, 1}}, {"out_backprop", {1, 4, 4, 1}}}},
              {"filter_sizes", {{"shape", {4}}, {"value", {3, 3, 1, 1}}}},
              {"attrs", {{"padding", "SAME"}}}};
  EXPECT_EQ(check(one.dump()).out, "case-1 ok result f32 [3,3,1,1]\n");
  one["filter_sizes"] = {3, 3, 1, 1};
  EXPECT_EQ(check(one.dump()).out, "case-1 ok result f32 [3,3,1,1]\n");
  one["filter_sizes"] = {{"shape", json::array()}, {"value", 0}};
  expect_case_refused(check(one.dump()), "size-vector-rank", "rank 0");
  one["filter_sizes"] = {{"shape", {2, 2}}, {"value", {{3, 3}, {1, 1}}}};
  expect_case_refused(check(one.dump()), "size-vector-rank", "rank 2");
  one["filter_sizes"] = {{"shape", {3}}, {"value", {3, 3, 1, 1}}};
  expect_case_refused(check(one.dump()), "element-count", "got 4 values, wanted 3");
  one["filter_sizes"] = {{"shape", {4}}};
  expect_case_refused(check(one.dump()), "attr-type", "shape and value");
}

TEST(Cases, text_that_is_no_case_is_one_sentence) {
  const std::string deep(1 << 20, '[');
  for (const std::string& text :
       {std::string(), std::string("nul"), std::string("null"), std::string("5"), std::string("\"x\""),
        std::string("[]"), std::string("{\"cases\":5}"), std::string("{\"cases\":[]}"), std::string("[1,"), deep,
        deep + std::string(deep.size(), ']'), std::string("{\"op\":\"\xff\"}"), std::string("\0\1\2", 3),
        std::string("{\"op\":\"\\ud800\"}"), std::string("// no"), std::string("[NaN]")}) {
    expect_refused(check(text), "problem-string", "--case");
  }
}

TEST(Cases, deep_nesting_inside_a_case_is_refused) {
  std::string deep =
      R"({"op":"Conv2D","attrs":{"strides":)" + std::string(100000, '[') + std::string(100000, ']') + "}}";
  expect_refused(check(deep), "problem-string", "nested too deep");
}

TEST(Cases, unreadable_files_fail) {
  expect_failed(program({"check", "--case", scratch("no-such-file")}), "No such file or directory");
  expect_failed(program({"check", "--case", "/tmp"}), "Is a directory");
  expect_failed(program({"check", "--case", "/dev/zero"}), "larger than");
}

TEST(Cases, a_hostile_id_stays_on_one_line) {
  json one = legal("a\nb\x1b[31m");
  const Outcome outcome = check(one.dump());
  EXPECT_EQ(outcome.out, "a\\x0ab\\x1b[31m ok result f32 [1,5,5,8]\n");
}

}  // namespace
}  // namespace convgrad::test

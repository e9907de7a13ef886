// The JSON under pages: exact numbers, strict text, places in messages.
#include "pages/json.h"

#include <gtest/gtest.h>

#include <cmath>

namespace convgrad::graph {
namespace {

Json read(std::string_view text) { return read_json(text, "test").value(); }
string refusal(std::string_view text) {
  const Result<Json> json = read_json(text, "test");
  return json.ok() ? "it was read" : json.status().message();
}

TEST(Json, keeps_integers_and_numbers_apart) {
  const Json json = read("[1, 1.0, -0, 9223372036854775807, -9223372036854775808, 1e3, 5e-324]");
  const auto& list = *json.as<Json::List>();
  EXPECT_EQ(*list[0].as<int64>(), 1);
  EXPECT_EQ(*list[1].as<double>(), 1.0);
  EXPECT_TRUE(std::signbit(*list[2].as<double>()));
  EXPECT_EQ(*list[3].as<int64>(), std::numeric_limits<int64>::max());
  EXPECT_EQ(*list[4].as<int64>(), std::numeric_limits<int64>::min());
  EXPECT_EQ(compact(json), "[1, 1.0, -0.0, 9223372036854775807, -9223372036854775808, 1000.0, 5e-324]");
  EXPECT_EQ(compact(read(compact(json))), compact(json));
}

TEST(Json, keeps_the_order_of_members) {
  EXPECT_EQ(compact(read(R"({"b":1,"a":{"d":null,"c":[]}})")), R"({"b": 1, "a": {"d": null, "c": []}})");
}

TEST(Json, reads_escapes_and_writes_them_back) {
  const Json json = read(R"("\u00e9\ud83d\ude00\n\u0001\/\"")");
  EXPECT_EQ(*json.as<string>(), "\xC3\xA9\xF0\x9F\x98\x80\n\x01/\"");
  EXPECT_EQ(compact(json), "\"\xC3\xA9\xF0\x9F\x98\x80\\n\\u0001/\\\"\"");
}

TEST(Json, tells_line_and_column_of_a_mistake) {
  EXPECT_NE(refusal("{\n  \"a\": [1,\n 2,, 3]\n}").find("line 3, column 4"), string::npos)
      << refusal("{\n  \"a\": [1,\n 2,, 3]\n}");
  EXPECT_NE(refusal("[1] x").find("line 1, column 5"), string::npos);
}

TEST(Json, refuses_what_is_no_json) {
  for (const char* text : {"",
                           " ",
                           "[",
                           "]",
                           "{",
                           "{\"a\"",
                           "{\"a\":",
                           "{\"a\":1",
                           "{a:1}",
                           "[1,]",
                           "{\"a\":1,}",
                           "01",
                           "+1",
                           "-",
                           ".5",
                           "1.",
                           "1e",
                           "1e+",
                           "nul",
                           "TRUE",
                           "NaN",
                           "Infinity",
                           "\"",
                           "\"\\x\"",
                           "\"\\u12\"",
                           "\"\\u12g4\"",
                           "\"\t\"",
                           "'a'",
                           "1 2",
                           "\"\\ud800\"",
                           "\"\\ud800\\u0041\"",
                           "\"\\udc00\"",
                           "// a\n1",
                           "9223372036854775808",
                           "-9223372036854775809",
                           "1e400",
                           "-1e400"})
    EXPECT_FALSE(read_json(text, "test").ok()) << text;
}

TEST(Json, takes_numbers_next_to_nothing_as_zero) {
  EXPECT_EQ(*read("1e-400").as<double>(), 0.0);
  EXPECT_TRUE(std::signbit(*read("-1e-400").as<double>()));
}

TEST(Json, refuses_a_key_twice) { EXPECT_NE(refusal(R"({"a": 1, "b": 2, "a": 3})").find("a key twice"), string::npos); }

TEST(Json, refuses_what_is_no_utf8) {
  for (const char* text : {"\"\x80\"", "\"\xC0\xAF\"", "\"\xE0\x80\x80\"", "\"\xED\xA0\x80\"", "\"\xF4\x90\x80\x80\"",
                           "\"\xC3\"", "\xF0\x9F"})
    EXPECT_NE(refusal(text).find("not UTF-8"), string::npos) << text;
}

TEST(Json, skips_a_byte_order_mark) { EXPECT_EQ(*read("\xEF\xBB\xBF 7").as<int64>(), 7); }

TEST(Json, takes_64_levels_and_refuses_one_more) {
  const auto nested = [](int depth) {
    return string(static_cast<std::size_t>(depth), '[') + string(static_cast<std::size_t>(depth), ']');
  };
  EXPECT_TRUE(read_json(nested(64), "test").ok());
  EXPECT_NE(refusal(nested(65)).find("too deep"), string::npos);
  EXPECT_NE(refusal(string(1 << 20, '[')).find("too deep"), string::npos);
}

TEST(Json, puts_what_fits_on_a_line) {
  Json numbers = Json::list();
  for (int i = 100; i < 140; ++i) numbers.add(i);
  Json json = Json::object();
  json.add("short", Json::List{1, 2});
  json.add("long", numbers);
  json.add("empty", Json::object());
  EXPECT_EQ(laid_out(json, 1),
            "{\n  \"short\": [1, 2],\n  \"long\": [\n"
            "    100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, "
            "120, 121, 122,\n"
            "    123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139\n"
            "  ],\n  \"empty\": {}\n}\n");
}

}  // namespace
}  // namespace convgrad::graph

#include "convgrad/status.h"

#include <gtest/gtest.h>

#include <set>

#include "base/rules.h"
#include "base/text.h"
#include "convgrad/geometry.h"

namespace convgrad {
namespace {

TEST(Status, is_ok_by_default) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::ok);
  EXPECT_EQ(status.message(), "");
}

TEST(Status, a_refusal_says_who_why_got_and_wanted) {
  const Status status = refuse("Conv2D", {.rule = Rule::stride_range,
                                          .argument = "strides",
                                          .reason = "strides must be positive",
                                          .got = "[1,0,1,1]",
                                          .wanted = "1 or more"});
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_EQ(status.message(), "Conv2D: strides must be positive (strides: got [1,0,1,1], wanted 1 or more)");
  EXPECT_EQ(status.argument(), "strides");
  EXPECT_EQ(status.got(), "[1,0,1,1]");
  EXPECT_EQ(status.wanted(), "1 or more");
  EXPECT_EQ(status.rule(), "stride-range");
}

TEST(Status, out_of_memory_is_a_resource_error) {
  EXPECT_EQ(Status::out_of_memory().code(), StatusCode::resource_exhausted);
  EXPECT_EQ(Status::out_of_memory().rule(), "resource");
}

TEST(Status, names_every_code) {
  EXPECT_STREQ(name(StatusCode::ok), "ok");
  EXPECT_STREQ(name(StatusCode::cancelled), "cancelled");
  EXPECT_STREQ(name(static_cast<StatusCode>(77)), "unknown");
}

TEST(Result, holds_a_value_or_throws_the_status) {
  Result<int> good = 7;
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(good.value(), 7);
  Result<int> bad = Status::internal("broken");
  EXPECT_FALSE(bad.ok());
  try {
    (void)bad.value();
    FAIL() << "value() of an error did not throw";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "broken");
    EXPECT_EQ(error.status().code(), StatusCode::internal);
  }
}

TEST(Result, made_from_an_ok_status_is_an_internal_error) {
  const Result<int> odd = Status();
  EXPECT_FALSE(odd.ok());
  EXPECT_EQ(odd.status().code(), StatusCode::internal);
}

TEST(Rules, ids_are_unique) {
  std::set<std::string_view> ids;
  for (const RuleInfo& rule : all_rules()) EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
}

TEST(Text, writes_128_bit_numbers) {
  EXPECT_EQ(to_text(Wide{0}), "0");
  EXPECT_EQ(to_text(Wide{-9223372036854775807LL - 1}), "-9223372036854775808");
  EXPECT_EQ(to_text(Wide{1} << 100), "1267650600228229401496703205376");
}

TEST(Text, cuts_long_lists) {
  const std::vector<std::int64_t> many(1000, 1);
  EXPECT_LT(to_text(many).size(), 50u);
}

}  // namespace
}  // namespace convgrad

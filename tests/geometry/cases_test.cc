// The given case files at the validator's door: verdict, code, rule, shape, text.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "support/cases.h"

namespace convgrad {
namespace {

using nlohmann::json;

StatusCode code_of(const std::string& name) {
  return name == "Unimplemented" ? StatusCode::unimplemented : StatusCode::invalid_argument;
}

TEST(Cases, every_legal_case_is_accepted_with_its_shape) {
  int seen = 0;
  for (const json& c : test::cases_of("ops.json")) {
    if (c["kind"] == "error") continue;
    ++seen;
    const Result<Geometry> geometry = validate(test::call_of_case(c).view());
    ASSERT_TRUE(geometry.ok()) << c["id"] << ": " << geometry.status().message();
    if (c.contains("expected_shape")) {
      EXPECT_EQ(result_shape(*geometry), c["expected_shape"].get<Shape>()) << c["id"];
    }
    if (!c["out_backprop_shape"].is_null()) {
      EXPECT_EQ(out_shape(*geometry), c["out_backprop_shape"].get<Shape>()) << c["id"];
    }
  }
  EXPECT_EQ(seen, 140);
}

TEST(Cases, every_error_case_is_refused_with_its_code_and_text) {
  int seen = 0;
  for (const json& c : test::cases_of("ops.json")) {
    if (c["kind"] != "error") continue;
    ++seen;
    const Status status = validate(test::call_of_case(c).view()).status();
    ASSERT_FALSE(status.ok()) << c["id"];
    const auto codes = c["error_codes"].get<std::vector<std::string>>();
    const bool listed = std::any_of(codes.begin(), codes.end(),
                                    [&](const std::string& code) { return code_of(code) == status.code(); });
    EXPECT_TRUE(listed) << c["id"] << ": " << name(status.code()) << " " << status.message();
    if (c.contains("message_contains")) {
      EXPECT_NE(status.message().find(c["message_contains"].get<std::string>()), std::string::npos) << status.message();
    }
    EXPECT_NE(status.argument(), "") << c["id"];
    EXPECT_NE(status.got(), "") << c["id"];
    EXPECT_NE(status.wanted(), "") << c["id"];
  }
  EXPECT_EQ(seen, 15);
}

bool accepts(const json& c, const char* outcome) {
  if (c["expectation"] == outcome) return true;
  const json also = c.value("also_accept", json::array());
  return std::find(also.begin(), also.end(), outcome) != also.end();
}

TEST(Cases, every_hostile_case_gets_its_rule_or_its_empty_result) {
  int seen = 0;
  for (const json& c : test::cases_of("hostile.json")) {
    ++seen;
    const Result<Geometry> geometry = validate(test::call_of_hostile(c).view());
    if (geometry.ok()) {
      EXPECT_TRUE(accepts(c, "valid-empty") || accepts(c, "valid")) << c["id"] << " was accepted";
      EXPECT_EQ(result_shape(*geometry), c["expect_shape"].get<Shape>()) << c["id"];
    } else {
      EXPECT_TRUE(accepts(c, "error")) << c["id"] << ": " << geometry.status().message();
      EXPECT_EQ(geometry.status().rule(), c["rule"].get<std::string>())
          << c["id"] << ": " << geometry.status().message();
    }
  }
  EXPECT_EQ(seen, 34);
}

TEST(Cases, layout_changes_no_verdict) {
  for (const json& c : test::cases_of("ops.json")) {
    const OwnedCall call = test::call_of_case(c);
    const Layout other = call.data_format[1] == 'C' ? Layout::channels_last : Layout::channels_first;
    const OwnedCall moved = test::in_layout(call, std::string(data_format(other, info(call.op).rank)));
    EXPECT_EQ(validate(moved.view()).status().rule(), validate(call.view()).status().rule()) << c["id"];
  }
}

}  // namespace
}  // namespace convgrad

// Every published attack of tests/data/hostile.json through the program.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace convgrad::test {
namespace {

using nlohmann::json;

const std::string kFile = CONVGRAD_TEST_DATA "/hostile.json";

std::vector<json> hostile_cases() {
  std::ifstream file(kFile);
  return json::parse(file)["cases"];
}

bool may_be(const json& one, const char* answer) {
  const json also = one.value("also_accept", json::array());
  return one["expectation"] == answer || std::find(also.begin(), also.end(), answer) != also.end();
}

void expect_verdict(const json& one, const json& verdict) {
  const std::string id = one["id"];
  EXPECT_EQ(verdict["id"], id);
  if (verdict["ok"] == true) {
    EXPECT_TRUE(may_be(one, "valid-empty") || may_be(one, "valid")) << id << " must be refused";
    if (one.contains("expect_shape")) {
      EXPECT_EQ(verdict["result_shape"], one["expect_shape"]) << id;
    }
    return;
  }
  EXPECT_TRUE(may_be(one, "error")) << id << " is legal: " << verdict["message"];
  if (one["expectation"] == "error") {
    EXPECT_EQ(verdict["rule"], one["rule"]) << id << ": " << verdict["message"];
  }
  for (const char* field : {"argument", "got", "wanted", "message"}) EXPECT_NE(verdict[field], "") << id;
}

TEST(Hostile, each_alone_gets_its_verdict_and_exit_code) {
  const std::vector<json> cases = hostile_cases();
  ASSERT_GE(cases.size(), 34u);
  double slowest = 0;
  for (const json& one : cases) {
    const Outcome outcome = program({"check", "--json", "--case", "-"}, one.dump());
    ASSERT_FALSE(outcome.out.empty()) << one["id"] << ": code " << outcome.code << " " << outcome.err;
    const json verdict = json::parse(outcome.out);
    expect_verdict(one, verdict);
    EXPECT_EQ(outcome.code, verdict["ok"] == true ? 0 : 2) << one["id"];
    EXPECT_EQ(outcome.err.empty(), verdict["ok"] == true) << one["id"];
    slowest = std::max(slowest, outcome.milliseconds);
    std::printf("  %-28s %6.2f ms of process\n", one["id"].get<std::string>().c_str(), outcome.milliseconds);
  }
  std::printf("  slowest of %zu: %.2f ms (wanted: below 10)\n", cases.size(), slowest);
}

TEST(Hostile, the_whole_file_gets_the_same_verdicts) {
  const std::vector<json> cases = hostile_cases();
  const Outcome outcome = program({"check", "--json", "--case", kFile});
  EXPECT_EQ(outcome.code, 2);
  std::istringstream lines(outcome.out);
  std::string line;
  for (const json& one : cases) {
    ASSERT_TRUE(std::getline(lines, line));
    expect_verdict(one, json::parse(line));
  }
  EXPECT_FALSE(std::getline(lines, line));
}

}  // namespace
}  // namespace convgrad::test

// convgrad tune on a shape small enough for a test, and what its file does to a plan. Never speeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "convgrad/convgrad.h"

namespace convgrad::test {
namespace {

using nlohmann::json;

constexpr const char* kTunedProblem = "n2c24h40w40_k32r3s3_same_f32_forward";

Outcome tune(std::vector<std::string> more) {
  const json layer = {{"name", "plain"}, {"N", 2},           {"Cin", 24},    {"spatial", {40, 40}},
                      {"Cout", 32},      {"kernel", {3, 3}}, {"pad", "SAME"}};
  write_file(scratch("shapes.json"), json{{"shapes", {layer}}}.dump());
  more.insert(more.begin(), {"tune", scratch("shapes.json"), "--seconds", "0.001"});
  return program(more);
}

// explain, as a process that was started with CONVGRAD_TUNE_FILE.
Outcome explain_with(const std::string& file, const char* problem = kTunedProblem) {
  setenv("CONVGRAD_TUNE_FILE", file.c_str(), 1);
  const Outcome outcome = program({"explain", problem});
  unsetenv("CONVGRAD_TUNE_FILE");
  return outcome;
}

TEST(Tune, prints_a_line_a_cell_and_writes_a_file_that_plans_can_use) {
  const Outcome outcome = tune({"--dtypes", "f32,bf16", "--threads", "1", "--out", scratch("tuned.txt")});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(outcome.out.starts_with("shape ")) << outcome.out;
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1 + 2 * 2 * 2) << outcome.out;
  EXPECT_NE(outcome.out.find("plain                      bf16 first input "), std::string::npos) << outcome.out;
  EXPECT_TRUE(read_file(scratch("tuned.txt")).starts_with("# convgrad " CONVGRAD_VERSION_STRING " tune --threads 1, "));
  const std::string text = explain_with(scratch("tuned.txt")).out;
  EXPECT_EQ(text.find("is not used"), std::string::npos) << text;
}

TEST(Tune, tries_the_order_of_sums_only_when_told_to) {
  EXPECT_EQ(tune({"--dtypes", "f32", "--ops", "filter", "--layouts", "last", "--allow-other-bits"}).code, 0);
  const std::string help = program({"tune", "--help"}).out;
  EXPECT_TRUE(help.starts_with("Examples:\n  convgrad tune ")) << help;
  EXPECT_NE(help.find("--allow-other-bits"), std::string::npos);
}

TEST(Tune, refuses_what_bench_refuses) {
  expect_refused(tune({"--ops", "filtre"}), "op-name", "did you mean 'filter'?");
  expect_refused(tune({"--match", "vgg"}), "problem-string", "'vgg'");
  expect_refused(tune({"--threads", "-1"}), "policy", "got -1");
  expect_refused(tune({"--isa", "avx1024"}), "engine-name", "'avx1024'");
  expect_failed(program({"tune", scratch("none.json")}), "No such file or directory");
  expect_failed(tune({"--dtypes", "f32", "--layouts", "last", "--out", "/no/such/folder/tuned.txt"}), "cannot write");
  expect_usage_error(tune({"--out", ""}), "a file name is missing");
}

TEST(TuneFile, is_shown_by_explain) {
  write_file(scratch("tuned.txt"), std::string(kTunedProblem) + " " + cpu_isa() + " most_region=256\n");
  const std::string usual = program({"explain", kTunedProblem}).out, tuned = explain_with(scratch("tuned.txt")).out;
  EXPECT_EQ(usual.find("tuned: "), std::string::npos) << usual;
  EXPECT_NE(tuned.find("; tuned: most_region=256\n"), std::string::npos) << tuned;
  EXPECT_NE(tuned, usual);
  const char* const other = "n2c24h40w40_k32r3s3_same_f64_forward";
  EXPECT_EQ(explain_with(scratch("tuned.txt"), other).out, program({"explain", other}).out);
}

TEST(TuneFile, that_is_bad_leaves_plans_as_they_were_and_is_named) {
  for (const char* bytes : {"nonsense", "n1 avx512 units=8\n", "\xff\xfe\n\x1b[2J"}) {
    write_file(scratch("tuned.txt"), bytes);
    const Outcome outcome = explain_with(scratch("tuned.txt"));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("; the file that CONVGRAD_TUNE_FILE names is not used: line 1 is refused by rule "),
              std::string::npos)
        << outcome.out;
  }
  EXPECT_NE(explain_with("/no/such/file").out.find("is not used: there is no such file\n"), std::string::npos);
  EXPECT_EQ(explain_with("").out, program({"explain", kTunedProblem}).out);
}

}  // namespace
}  // namespace convgrad::test

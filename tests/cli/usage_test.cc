// Help, version, and every way to hold the program wrong.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <random>

#include "cli/program.h"
#include "cli/suggest.h"
#include "convgrad/nearest.h"
#include "convgrad/version.h"

namespace convgrad::test {
namespace {

constexpr const char* kShortProblem = "n1c2h4w4_k3r3s3_same_f32_filter_grad";

TEST(Help, leads_with_examples_and_ends_with_exit_codes) {
  const std::vector<std::vector<std::string>> calls = {{"--help"},          {"run", "--help"}, {"explain", "--help"},
                                                       {"check", "--help"}, {"ops", "-h"},     {"doctor", "--help"}};
  for (const std::vector<std::string>& args : calls) {
    const Outcome help = program(args);
    EXPECT_EQ(help.code, 0);
    EXPECT_EQ(help.err, "");
    const std::string command = args.size() == 1 ? "convgrad " : "convgrad " + args[0];
    EXPECT_TRUE(help.out.starts_with("Examples:\n  " + command)) << help.out;
    EXPECT_NE(help.out.find("Options:"), std::string::npos) << help.out;
    EXPECT_NE(help.out.find("Exit codes:\n  0  "), std::string::npos) << help.out;
  }
}

TEST(Help, examples_run_as_they_stand) {
  EXPECT_EQ(program({"run", "n2c16h9w9_k8r3s3_st2_same_f32_filter_grad"}).code, 0);
  EXPECT_EQ(program({"check", "Conv2D", "input=1,5,5,3", "filter=3,3,3,8", "padding=SAME"}).code, 0);
  EXPECT_EQ(program({"run", "n8c64h56w56_k64r3s3_same_f32_filter_grad", "--dry-run"}).code, 0);
  EXPECT_EQ(
      program({"explain", "n2c16h9w9_k8r3s3_st2_same_f32_filter_grad", "--engine", "reference", "--threads", "1"}).code,
      0);
}

TEST(Version, is_the_headers) {
  const Outcome version = program({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(version.out, "convgrad " CONVGRAD_VERSION_STRING "\n");
}

TEST(Usage, a_missing_command_names_them_all) {
  expect_usage_error(program({}), "a command is missing: run, explain, check, ops, doctor");
}

TEST(Usage, an_unknown_command_gets_a_suggestion) {
  expect_usage_error(program({"rnu", kShortProblem}), "unknown command 'rnu'; did you mean 'run'?");
  expect_usage_error(program({"chek"}), "unknown command 'chek'; did you mean 'check'?");
  const Outcome far = program({"zebra"});
  expect_usage_error(far, "unknown command 'zebra'\n");
}

TEST(Usage, an_unknown_option_gets_a_suggestion) {
  expect_usage_error(program({"run", kShortProblem, "--thredas", "2"}),
                     "unknown option '--thredas'; did you mean '--threads'?");
  expect_usage_error(program({"run", kShortProblem, "--ouy=r.npy"}), "unknown option '--ouy'; did you mean '--out'?");
  expect_usage_error(program({"ops", "--jsn"}), "unknown option '--jsn'; did you mean '--json'?");
  expect_usage_error(program({"--versoin"}), "did you mean '--version'?");
}

TEST(Usage, missing_and_superfluous_arguments_are_named) {
  expect_usage_error(program({"run"}), "PROBLEM is required");
  expect_usage_error(program({"explain"}), "PROBLEM is required");
  expect_usage_error(program({"run", kShortProblem, "more"}), "unexpected argument 'more' after 'run'");
  expect_usage_error(program({"doctor", "more"}), "unexpected argument 'more' after 'doctor'");
  expect_usage_error(program({"run", kShortProblem, "--first"}), "--first");
  expect_usage_error(program({"run", kShortProblem, "--out", ""}), "--out: a file name is missing");
  expect_usage_error(program({"check"}), "check needs a problem");
  expect_usage_error(program({"check", kShortProblem, "--case", "x.json"}), "not both");
}

std::vector<std::vector<std::string>> every_door(const std::string& word) {
  return {{word},
          {"run", word},
          {"check", word},
          {"explain", word},
          {"ops", word},
          {"check", "Conv2D", word},
          {"run", kShortProblem, "--seed", word},
          {"run", kShortProblem, "--threads", word}};
}

// Whatever stands on the command line, the program ends by itself with a code of its own.
TEST(Usage, strange_bytes_end_in_a_refusal) {
  for (const char* word :
       {"",      " ",  "-",  "---",   "=",           "\n",       "\xff\xfe",    "\x01\x1b[31m", "%s%n%d",
        "{",     "{}", "[]", "[a,",   "[a,b]",       "\xc3\xa9", "--=",         "-=",           "--\xff",
        "-\xff", "@",  "%%", "'",     "\"",          "\\x00",    "a\tb",        "run=",         "~",
        "$(",    "`",  "*",  "../..", "--json=what", "/windows", "--no-such=\n"}) {
    for (const std::vector<std::string>& args : every_door(word)) {
      const Outcome outcome = program(args);
      EXPECT_EQ(outcome.code, 2) << "'" << word << "' after " << args[0] << ": " << outcome.err;
      EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos) << outcome.err;
    }
  }
}

// Words that the option parser has a use for are not wrong everywhere, but end well everywhere.
TEST(Usage, words_of_the_option_parser_end_well) {
  for (const char* word : {"--", "++", "--help=no", "--version=1", "-h5", "--config=/etc/passwd"}) {
    for (const std::vector<std::string>& args : every_door(word)) {
      const int code = program(args).code;
      EXPECT_TRUE(code == 0 || code == 2) << "'" << word << "' after " << args[0] << ": " << code;
    }
  }
}

TEST(Usage, very_long_words_give_a_short_answer) {
  const std::string word(100000, 'n');
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{word},
                                             {"run", word},
                                             {"check", word},
                                             {"check", "Conv2D", word},
                                             {"check", "Conv2D", "strides=" + word},
                                             {"check", "Conv2D", "strides=" + std::string(100000, '9')},
                                             {"run", kShortProblem, "--engine", word},
                                             {"run", kShortProblem, "--" + word},
                                             {"run", kShortProblem, "--threads", std::string(100000, '9')}}) {
    const Outcome outcome = program(args);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_LT(outcome.err.size(), 1500u) << args[0];
  }
}

TEST(Usage, random_bytes_never_crash) {
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    std::string word(1 + random() % 40, ' ');
    for (char& byte : word) byte = static_cast<char>(1 + random() % 255);
    EXPECT_EQ(program({"check", "Conv2D", "input=" + word, word}).code, 2) << "seed 1, draw " << i;
  }
}

TEST(Output, a_full_disk_is_a_failure) {
  // The shell only joins the two; the answer is the program's.
  std::string command = CONVGRAD_PROGRAM;
  command += " ops > /dev/full 2> " + scratch("full");
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(read_file(scratch("full")), "convgrad: cannot write to standard output\n");
}

TEST(Suggest, counts_edits) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("Run", "run"), 0u);
  EXPECT_EQ(cli::did_you_mean("explian", {"run", "explain"}), "; did you mean 'explain'?");
  EXPECT_EQ(cli::did_you_mean("x", {"run", "ops"}), "");
}

}  // namespace
}  // namespace convgrad::test

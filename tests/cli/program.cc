// posix_spawn with the three streams in files: no pipe can fill up.
#include "cli/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

extern char** environ;

namespace convgrad::test {
namespace {

// Removed with everything in it when the test program ends.
struct ScratchFolder {
  std::string path;
  ScratchFolder() {
    path = testing::TempDir() + "convgrad-cli-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) std::abort();
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void expect_one_line(const std::string& text) {
  EXPECT_TRUE(text.starts_with("convgrad: ")) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  EXPECT_TRUE(text.ends_with('\n')) << text;
}

}  // namespace

std::string scratch(const std::string& name) {
  static const ScratchFolder folder;
  return folder.path + "/" + name;
}

void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Outcome program(const std::vector<std::string>& args, std::string_view input) {
  const std::string in = scratch("stdin"), out = scratch("stdout"), err = scratch("stderr");
  write_file(in, input);
  std::vector<char*> argv = {const_cast<char*>("convgrad")};
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t streams;
  posix_spawn_file_actions_init(&streams);
  posix_spawn_file_actions_addopen(&streams, STDIN_FILENO, in.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&streams, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&streams, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  Outcome outcome;
  pid_t child = 0;
  const auto start = std::chrono::steady_clock::now();
  const int error = posix_spawn(&child, CONVGRAD_PROGRAM, &streams, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&streams);
  if (error != 0) {
    ADD_FAILURE() << "cannot start " << CONVGRAD_PROGRAM;
    return outcome;
  }
  outcome.code = wait_for(child);
  outcome.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  outcome.out = read_file(out);
  outcome.err = read_file(err);
  return outcome;
}

void expect_refused(const Outcome& outcome, std::string_view rule, std::string_view part, std::string_view code) {
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  expect_one_line(outcome.err);
  const std::string ending = " [" + std::string(code) + ", rule " + std::string(rule) + "]\n";
  EXPECT_TRUE(outcome.err.ends_with(ending)) << outcome.err << "wanted " << ending;
  EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err << "wanted " << part;
}

void expect_usage_error(const Outcome& outcome, std::string_view part) {
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(outcome.err.starts_with("convgrad: ")) << outcome.err;
  EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err << "wanted " << part;
}

void expect_failed(const Outcome& outcome, std::string_view part) {
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  expect_one_line(outcome.err);
  EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err << "wanted " << part;
}

}  // namespace convgrad::test

// posix_spawn with the three streams in files: no pipe can fill up.
#include "cli/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <termios.h>
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

// Standard input is scratch("stdin").
pid_t started(const std::vector<std::string>& args, const std::string& out, const std::string& err) {
  std::vector<char*> argv = {const_cast<char*>("convgrad")};
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  const std::string in = scratch("stdin");
  posix_spawn_file_actions_t streams;
  posix_spawn_file_actions_init(&streams);
  posix_spawn_file_actions_addopen(&streams, STDIN_FILENO, in.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&streams, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY, 0600);
  posix_spawn_file_actions_addopen(&streams, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY, 0600);
  pid_t child = -1;
  if (posix_spawn(&child, CONVGRAD_PROGRAM, &streams, nullptr, argv.data(), environ) != 0)
    ADD_FAILURE() << "cannot start " << CONVGRAD_PROGRAM;
  posix_spawn_file_actions_destroy(&streams);
  return child;
}

Outcome ended(pid_t child) {
  Outcome outcome;
  if (child < 0) return outcome;
  outcome.code = wait_for(child);
  outcome.out = read_file(scratch("stdout"));
  outcome.err = read_file(scratch("stderr"));
  return outcome;
}

// A terminal of our own: what is written to name() is read here.
class Terminal {
 public:
  Terminal() : fd_(posix_openpt(O_RDWR | O_NOCTTY)) {
    if (fd_ < 0 || grantpt(fd_) != 0 || unlockpt(fd_) != 0) std::abort();
    slave_ = open(name().c_str(), O_RDWR | O_NOCTTY);  // held open, so that reading waits for a first writer
    termios mode{};
    tcgetattr(slave_, &mode);
    mode.c_oflag &= ~static_cast<tcflag_t>(OPOST);  // no carriage returns that the program did not write
    tcsetattr(slave_, TCSANOW, &mode);
  }
  ~Terminal() {
    close(slave_);
    close(fd_);
  }
  std::string name() const { return ptsname(fd_); }

  // Everything until the child has ended and nothing is left.
  std::string read_all(pid_t child) const {
    std::string text;
    for (bool running = true; running || poll_in(0);) {
      siginfo_t info{};
      running = running && (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0) &&
                info.si_pid == 0;
      char block[4096];
      if (poll_in(20))
        text.append(block, static_cast<std::size_t>(std::max<ssize_t>(::read(fd_, block, sizeof(block)), 0)));
    }
    return text;
  }

 private:
  bool poll_in(int milliseconds) const {
    pollfd entry{fd_, POLLIN, 0};
    return poll(&entry, 1, milliseconds) == 1 && (entry.revents & POLLIN) != 0;
  }
  int fd_, slave_ = -1;
};

// As the kernel says: a process that has not got so far would end without a word.
bool catches_interrupts(pid_t child) {
  const std::string status = read_file("/proc/" + std::to_string(child) + "/status");
  const std::size_t at = status.find("SigCgt:\t");
  return at != std::string::npos && (std::stoull(status.substr(at + 8), nullptr, 16) >> (SIGINT - 1) & 1) != 0;
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
  write_file(scratch("stdin"), input);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = started(args, scratch("stdout"), scratch("stderr"));
  Outcome outcome = ended(child);
  outcome.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

Outcome program_on_terminal(const std::vector<std::string>& args) {
  write_file(scratch("stdin"), "");
  const Terminal terminal;
  const pid_t child = started(args, terminal.name(), terminal.name());
  Outcome outcome;
  outcome.out = terminal.read_all(child);
  outcome.code = wait_for(child);
  return outcome;
}

Outcome program_interrupted(const std::vector<std::string>& args) {
  write_file(scratch("stdin"), "");
  const pid_t child = started(args, scratch("stdout"), scratch("stderr"));
  for (int i = 0; i < 1000 && !catches_interrupts(child); ++i) usleep(10000);
  kill(child, SIGINT);
  return ended(child);
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

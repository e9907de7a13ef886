// What only a terminal gets, and Ctrl-C.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <optional>

#include "cli/graphs.h"
#include "cli/program.h"
#include "convgrad/npy.h"

namespace convgrad::test {
namespace {

// An environment variable for the length of a test.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Environment() { set(before_ ? before_->c_str() : nullptr); }

 private:
  void set(const char* value) const { value == nullptr ? unsetenv(name_) : setenv(name_, value, 1); }
  const char* name_;
  std::optional<std::string> before_;
};

bool has_escape(const std::string& text) { return text.find('\x1b') != std::string::npos; }

TEST(Terminal, gets_colour) {
  const Environment no_color("NO_COLOR", nullptr), term("TERM", "xterm");
  EXPECT_NE(program_on_terminal({"rnu"}).out.find("\x1b[1;31mconvgrad:\x1b[0m unknown command"), std::string::npos);
  EXPECT_NE(program_on_terminal({"check", saved("small.json", small_page())}).out.find("\x1b[1;32mok\x1b[0m 3 nodes"),
            std::string::npos);
}

TEST(Terminal, gets_no_colour_when_asked_not_to) {
  {
    const Environment no_color("NO_COLOR", "1"), term("TERM", "xterm");
    EXPECT_FALSE(has_escape(program_on_terminal({"rnu"}).out));
  }
  const Environment no_color("NO_COLOR", nullptr), dumb("TERM", "dumb");
  EXPECT_FALSE(has_escape(program_on_terminal({"rnu"}).out));
}

TEST(Terminal, shows_progress_and_wipes_it) {
  const std::string file = saved("small.json", small_page());
  const std::string out = program_on_terminal({"run", file}).out;
  EXPECT_NE(out.find("] 3/3 y\r\x1b[K"), std::string::npos) << out;
  const Outcome plain = program({"run", file});
  EXPECT_EQ(plain.err, "");
  EXPECT_FALSE(has_escape(plain.out));
}

// A filter gradient of 6e10 multiplications by the definition: minutes, unless it is stopped.
std::string long_page() {
  graph::Tensor x(graph::DT_FLOAT, graph::TensorShape({1, 128, 128, 64}));
  x.flat<float>().setZero();
  write_file(scratch("long.npy"), graph::npy_bytes(x).value());
  return saved("long.json",
               page({node("x", "Placeholder", {{"dtype", "float"}, {"shape", {1, 128, 128, 64}}}),
                     constant("sizes", "int32", {31, 31, 64, 64}),
                     node("dw", "Conv2DBackpropFilter", {{"strides", {1, 1, 1, 1}}, {"padding", "SAME"}})},
                    {edge("x", "dw", "input"), edge("sizes", "dw", "filter_sizes"), edge("x", "dw", "out_backprop")}));
}

TEST(Interrupt, stops_a_graph) {
  const Outcome run = program_interrupted(
      {"run", long_page(), "--feed", "x=" + scratch("long.npy"), "--engine", "reference", "--out", scratch("never")});
  EXPECT_EQ(run.code, 3) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_NE(run.err.find("rule cancelled]"), std::string::npos) << run.err;
}

TEST(Interrupt, stops_a_problem) {
  const Outcome run =
      program_interrupted({"run", "n1c64h128w128_k64r31s31_same_f32_filter_grad", "--engine", "reference"});
  EXPECT_EQ(run.code, 3) << run.err;
  EXPECT_NE(run.err.find("rule cancelled]"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace convgrad::test

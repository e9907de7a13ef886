// A command of the program as data: parsing, help, completion and the man page are made from the same rows.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace convgrad::cli {

// What a shell may offer for a value.
enum class Offer { nothing, files, ops };

// An option, or a word by its place. What is read is written to `to`; a list takes any number of them.
struct Option {
  std::string_view name;   // "--threads", or "PROBLEM" for a word
  std::string_view value;  // how help calls an option's value; empty for words and flags
  std::string doc;
  std::variant<bool*, std::string*, std::vector<std::string>*> to;
  Offer offer = Offer::nothing;
  std::vector<std::string> choices = {};  // all that it can be; empty: anything
  bool required = false;

  bool is_word() const { return !name.starts_with("-"); }
  bool is_flag() const { return std::holds_alternative<bool*>(to); }
  bool is_path() const { return offer == Offer::files; }
};

struct CommandHelp {
  std::string_view name;
  std::string_view summary;
  std::string_view examples;  // lines of their own
};

struct Command {
  CommandHelp help;
  std::vector<Option> options;
  std::function<int()> run;  // answers the exit code
};

// Binds the options and the function of a command to a request of its own.
template <class Request>
Command command(const CommandHelp& help, std::vector<Option> (*options)(Request&), int (*run)(const Request&)) {
  const auto request = std::make_shared<Request>();
  return {help, options(*request), [request, run] { return run(*request); }};
}

inline constexpr std::string_view kProgramSummary = "Convolutions and their gradients, as TensorFlow defines them.";
inline constexpr std::string_view kProgramExamples =
    "  convgrad run examples/graphs/conv3d_backprop_filter_v2.json\n"
    "  convgrad run n2c16h9w9_k8r3s3_st2_same_f32_filter_grad\n"
    "  convgrad check Conv2D input=1,5,5,3 filter=3,3,3,8 padding=SAME\n"
    "  convgrad ops\n"
    "  convgrad doctor\n";

struct ExitCode {
  int code;
  std::string_view meaning;
};
std::span<const ExitCode> exit_codes();

// Every command, in the order of the help.
std::vector<Command> all_commands();

// The groups that they come from.
std::vector<Command> run_commands();       // run, explain, check
std::vector<Command> describe_commands();  // ops, doctor, schema, completion, man
std::vector<Command> graph_commands();     // infer, grad, gradcheck, convert
std::vector<Command> measure_commands();   // bench, tune
std::vector<Command> studio_commands();    // studio, where it was built

}  // namespace convgrad::cli

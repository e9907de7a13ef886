// Options, help that leads with examples, and "did you mean". The only file that knows CLI11.
#include "cli/command_line.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/suggest.h"
#include "convgrad/version.h"

namespace convgrad::cli {
namespace {

constexpr const char* kExitCodes =
    "Exit codes:\n"
    "  0  done, or everything checked is legal\n"
    "  1  a file cannot be read or written, or an unexpected failure\n"
    "  2  the problem, the call or the command line is refused; stderr says why\n";

constexpr const char* kProblemHelp = "Problem string, e.g. n2c16h9w9_k8r3s3_st2_same_f32_filter_grad";

struct CommandHelp {
  std::string_view command;  // "" is the program
  std::string_view examples;
};

constexpr CommandHelp kHelp[] = {
    {"",
     "  convgrad run n2c16h9w9_k8r3s3_st2_same_f32_filter_grad\n"
     "  convgrad check Conv2D input=1,5,5,3 filter=3,3,3,8 padding=SAME\n"
     "  convgrad ops\n"
     "  convgrad doctor\n"},
    {"run",
     "  convgrad run n2c16h9w9_k8r3s3_st2_same_f32_filter_grad\n"
     "  convgrad run n1c1h4w4_k1r3s3_valid_forward --first x.npy --second f.npy --out y.npy\n"
     "  convgrad run n8c64h56w56_k64r3s3_same_bf16_input_grad --seed 7 --threads 4 --json\n"
     "  convgrad run n8c64h56w56_k64r3s3_same_f32_filter_grad --dry-run\n"},
    {"explain",
     "  convgrad explain n2c16h9w9_k8r3s3_st2_same_f32_filter_grad\n"
     "  convgrad explain n2c16h9w9_k8r3s3_st2_same_f32_filter_grad --engine reference --threads 1\n"},
    {"check",
     "  convgrad check n2c16h9w9_k8r3s3_st2_same_f32_filter_grad\n"
     "  convgrad check Conv2DBackpropFilter input=1,1,1,2 filter_sizes=1,1,1,1 out_backprop=1,1,1,1 \\\n"
     "                 strides=1,66,49,1 padding=VALID\n"
     "  convgrad check Conv3DBackpropFilterV2 input=2,2,2,2,1 filter_sizes=scalar:0 padding=VALID\n"
     "  convgrad check --case cases.json --json\n"},
    {"ops",
     "  convgrad ops\n"
     "  convgrad ops --json\n"},
    {"doctor",
     "  convgrad doctor\n"
     "  convgrad doctor --json\n"},
    {"bench",
     "  convgrad bench --ops filter,input --dtypes f32 --layouts last --threads 1\n"
     "  convgrad bench shapes.json --match rn50 --isa avx2 --seconds 1 --json rows.json\n"},
    {"tune",
     "  convgrad tune shapes.json --dtypes f32 --layouts last --threads 1 --out tuned.txt\n"
     "  CONVGRAD_TUNE_FILE=tuned.txt convgrad explain n8c64h56w56_k64r3s3_same_f32_forward\n"},
};

std::string_view examples_of(const CLI::App& app) {
  for (const CommandHelp& help : kHelp) {
    if (app.get_parent() != nullptr && help.command == app.get_name()) return help.examples;
  }
  return kHelp[0].examples;
}

std::string help_text(const CLI::App* app, std::string name, CLI::AppFormatMode mode) {
  return fmt::format("Examples:\n{}\n{}", examples_of(*app), CLI::Formatter().make_help(app, std::move(name), mode));
}

// `--out ""`, as an unset shell variable gives it, must not pass for no --out.
CLI::Validator named_file() {
  return CLI::Validator([](std::string& path) { return std::string(path.empty() ? "a file name is missing" : ""); },
                        "");
}

void add_policy(CLI::App& app, PolicyRequest& policy) {
  app.add_option("--engine", policy.engine, "Engine by name; left out: the cheapest")->type_name("NAME");
  app.add_option("--threads", policy.threads, "Threads; 0: one a core")->type_name("N");
}

// All that a command line can ask for; the option parser writes into it.
struct Requests {
  RunRequest run;
  ExplainRequest explain;
  CheckRequest check;
  BenchRequest bench;
  TuneRequest tune;
  bool ops_json = false, doctor_json = false;
};

void add_run(CLI::App& program, RunRequest& request) {
  CLI::App* app = program.add_subcommand("run", "Compute one problem and show the result");
  app->add_option("PROBLEM", request.problem, kProblemHelp)->required()->type_name("");
  app->add_option("--first", request.first, "First operand: input, or filter for input_grad")
      ->type_name("A.npy")
      ->check(named_file());
  app->add_option("--second", request.second, "Second operand: filter, or out_backprop for gradients")
      ->type_name("B.npy")
      ->check(named_file());
  app->add_option("--out", request.out, "Write the result there")->type_name("R.npy")->check(named_file());
  app->add_option("--seed", request.seed, "Seed of the operands that no file gives")->type_name("N");
  add_policy(*app, request.policy);
  app->add_flag("--dry-run", request.dry_run, "Show the plan and each tensor's bytes; run nothing");
  app->add_flag("--json", request.json, "Answer as JSON");
}

void add_explain(CLI::App& program, ExplainRequest& request) {
  CLI::App* app = program.add_subcommand("explain", "Show what would run, and why");
  app->add_option("PROBLEM", request.problem, kProblemHelp)->required()->type_name("");
  add_policy(*app, request.policy);
}

void add_check(CLI::App& program, CheckRequest& request) {
  CLI::App* app = program.add_subcommand("check", "Validate a problem, an op call or a file of cases; compute nothing");
  app->add_option("CALL", request.words,
                  "A problem string, or a TensorFlow op name and key=value words. Keys: dtype, input, filter,\n"
                  "out_backprop, input_sizes, filter_sizes, strides, dilations, padding, explicit_paddings,\n"
                  "data_format. Values: integers joined by commas; nothing is a scalar shape or an empty list;\n"
                  "scalar:N is a bare number in place of a size vector")
      ->type_name("");
  app->add_option("--case", request.case_file, "Case object, array, or {\"cases\": [...]}; - is standard input")
      ->type_name("FILE.json")
      ->check(named_file());
  app->add_flag("--json", request.json, "Answer as JSON, one object a line");
}

void add_cells(CLI::App& app, CellsRequest& request) {
  app.add_option("SHAPES.json", request.shapes, "Layers to time; left out: bench/shapes.json")
      ->type_name("")
      ->check(named_file());
  app.add_option("--ops", request.ops, fmt::format("Of filter, input and forward; left out: {}", request.ops))
      ->type_name("A,B");
  app.add_option("--dtypes", request.dtypes, "Of f32, f64, bf16 and f16; left out: all")->type_name("A,B");
  app.add_option("--layouts", request.layouts, "Channels last, first or both; left out: both")->type_name("A,B");
  app.add_option("--match", request.match, "Only shapes with this text in their name")->type_name("TEXT");
  app.add_option("--isa", request.isa, "Instruction set to run, as CONVGRAD_ISA names it")->type_name("NAME");
  add_policy(app, request.policy);
}

void add_bench(CLI::App& program, BenchRequest& request) {
  CLI::App* app = program.add_subcommand("bench", "Verify and time the layers of a shapes file");
  add_cells(*app, request.cells);
  app->add_option("--seconds", request.cells.seconds, "Time spent on a cell; left out: 0.4")->type_name("S");
  app->add_option("--json", request.json_file, "Write machine and rows there")->type_name("FILE")->check(named_file());
}

void add_tune(CLI::App& program, TuneRequest& request) {
  CLI::App* app = program.add_subcommand("tune", "Find faster ways to cut the work of a shapes file's layers");
  add_cells(*app, request.cells);
  app->add_option("--seconds", request.cells.seconds, "Time spent on each knob of a cell; left out: 0.4")
      ->type_name("S");
  app->add_option("--out", request.out, "Write what won by more than 3 % there, for CONVGRAD_TUNE_FILE")
      ->type_name("FILE")
      ->check(named_file());
  app->add_flag("--allow-other-bits", request.other_bits, "Try knobs that change the order of sums, too");
}

void add_commands(CLI::App& program, Requests& requests) {
  program.set_version_flag("--version", "convgrad " CONVGRAD_VERSION_STRING);
  program.formatter_fn(help_text);
  program.require_subcommand(1);
  program.footer(kExitCodes);
  add_run(program, requests.run);
  add_explain(program, requests.explain);
  add_check(program, requests.check);
  program.add_subcommand("ops", "List the ops with their arguments, dtypes and data formats")
      ->add_flag("--json", requests.ops_json, "Answer as JSON");
  program.add_subcommand("doctor", "Describe this machine and build, for a bug report")
      ->add_flag("--json", requests.doctor_json, "Answer as JSON");
  add_bench(program, requests.bench);
  add_tune(program, requests.tune);
  for (CLI::App* command : program.get_subcommands({})) command->footer(kExitCodes);
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::string unknown_word(const CLI::App& program, const CLI::App* command, const std::string& word) {
  if (word.starts_with("-")) {
    const std::string option = word.substr(0, word.find('='));
    return fmt::format("unknown option {}{}", in_quotes(option),
                       did_you_mean(option, option_names(command != nullptr ? *command : program)));
  }
  if (command == nullptr)
    return fmt::format("unknown command {}{}", in_quotes(word), did_you_mean(word, command_names(program)));
  return fmt::format("unexpected argument {} after '{}'", in_quotes(word), command->get_name());
}

int refuse_parse(const CLI::App& program, const CLI::ParseError& error) {
  const std::vector<CLI::App*> parsed = program.get_subcommands();
  const CLI::App* command = parsed.empty() ? nullptr : parsed.front();
  const std::vector<std::string> unknown = program.remaining(true);
  std::string text = error.what();
  if (!unknown.empty()) {
    text = unknown_word(program, command, unknown.front());
  } else if (command == nullptr) {
    text = fmt::format("a command is missing: {}", fmt::join(command_names(program), ", "));
  }
  refuse_usage(text);
  return refuse_usage(fmt::format("try 'convgrad {}--help'", command == nullptr ? "" : command->get_name() + " "));
}

int dispatch(const CLI::App& program, const Requests& requests) {
  if (program.got_subcommand("run")) return run_command(requests.run);
  if (program.got_subcommand("explain")) return explain_command(requests.explain);
  if (program.got_subcommand("ops")) return ops_command(requests.ops_json);
  if (program.got_subcommand("doctor")) return doctor_command(requests.doctor_json);
  if (program.got_subcommand("bench")) return bench_command(requests.bench);
  if (program.got_subcommand("tune")) return tune_command(requests.tune);
  if (!requests.check.words.empty() && !requests.check.case_file.empty())
    return refuse_usage("check takes a call or --case FILE.json, not both");
  if (requests.check.words.empty() && requests.check.case_file.empty())
    return refuse_usage(
        "check needs a problem, an op with its arguments, or --case FILE.json; try 'convgrad check --help'");
  return check_command(requests.check);
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App program("Convolutions and their gradients, as TensorFlow defines them.", "convgrad");
  Requests requests;
  add_commands(program, requests);
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help and --version
    return program.exit(asked);
  } catch (const CLI::ParseError& error) {
    return refuse_parse(program, error);
  }
  return dispatch(program, requests);
}

}  // namespace convgrad::cli

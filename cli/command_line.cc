// Options, help that leads with examples, and "did you mean". The only file that knows CLI11.
#include "cli/command_line.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "cli/answer.h"
#include "cli/command.h"
#include "cli/suggest.h"
#include "convgrad/version.h"

namespace convgrad::cli {
namespace {

std::string exit_code_text() {
  std::string text = "Exit codes:\n";
  for (const ExitCode& row : exit_codes()) text += fmt::format("  {}  {}\n", row.code, row.meaning);
  return text;
}

void lead_with(CLI::App& app, std::string_view examples) {
  app.formatter_fn([examples](const CLI::App* self, std::string name, CLI::AppFormatMode mode) {
    return fmt::format("Examples:\n{}\n{}", examples, CLI::Formatter().make_help(self, std::move(name), mode));
  });
  app.footer(exit_code_text());
}

// `--out ""`, as an unset shell variable gives it, must not pass for no --out.
CLI::Validator not_empty(const std::string& what) {
  return CLI::Validator([what](std::string& word) { return word.empty() ? what + " is missing" : std::string(); }, "");
}

CLI::Validator one_of(const std::vector<std::string>& choices) {
  const auto judge = [choices](std::string& word) {
    if (std::find(choices.begin(), choices.end(), word) != choices.end()) return std::string();
    return fmt::format("there is no {}{} (wanted {})", in_quotes(word), did_you_mean(word, choices),
                       fmt::join(choices, ", "));
  };
  return CLI::Validator(judge, "");
}

void add_checks(CLI::Option& option, const Option& row) {
  option.required(row.required)->type_name(std::string(row.value));
  if (row.is_path()) option.check(not_empty("a file name"));
  if (row.offer == Offer::ops) option.check(not_empty("the name of an op"));
  if (!row.choices.empty()) option.check(one_of(row.choices));
}

void add_option(CLI::App& app, const Option& row) {
  const std::string name(row.name);
  const auto add = [&]<class To>(To* to) {
    if constexpr (std::is_same_v<To, bool>) {
      app.add_flag(name, *to, row.doc);
    } else if (std::is_same_v<To, std::string> || row.is_word()) {
      add_checks(*app.add_option(name, *to, row.doc), row);
    } else if constexpr (!std::is_same_v<To, std::string>) {
      // One value each time it stands, as it stands: CLI11's own lists read "[a,b]" as two.
      const auto keep = [to](const std::string& value) { to->push_back(value); };
      add_checks(*app.add_option_function<std::string>(name, keep, row.doc)->trigger_on_parse(), row);
    }
  };
  std::visit(add, row.to);
}

void add_commands(CLI::App& program, const std::vector<Command>& commands) {
  program.set_version_flag("--version", "convgrad " CONVGRAD_VERSION_STRING);
  program.require_subcommand(1);
  lead_with(program, kProgramExamples);
  for (const Command& row : commands) {
    CLI::App* app = program.add_subcommand(std::string(row.help.name), std::string(row.help.summary));
    lead_with(*app, row.help.examples);
    for (const Option& option : row.options) add_option(*app, option);
  }
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

int dispatch(const CLI::App& program, const std::vector<Command>& commands) {
  const std::string name = program.get_subcommands().front()->get_name();
  const auto named = [&](const Command& row) { return row.help.name == name; };
  return std::find_if(commands.begin(), commands.end(), named)->run();
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App program(std::string(kProgramSummary), "convgrad");
  const std::vector<Command> commands = all_commands();
  add_commands(program, commands);
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help and --version
    return program.exit(asked);
  } catch (const CLI::ParseError& error) {
    return refuse_parse(program, error);
  }
  return dispatch(program, commands);
}

}  // namespace convgrad::cli

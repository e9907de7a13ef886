// convgrad completion: scripts that complete commands, options and what they take, from the table of commands.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/commands.h"
#include "convgrad/graph/op_table.h"

namespace convgrad::cli {
namespace {

std::vector<std::string> candidates(const Option& option) {
  if (option.offer != Offer::ops) return option.choices;
  std::vector<std::string> names;
  for (const graph::OpSpec* op : graph::all_graph_ops()) names.push_back(op->name);
  return names;
}

// Options that a command's line may hold, and words that it may start with.
std::vector<std::string> line_words(const Command& command) {
  std::vector<std::string> words;
  for (const Option& option : command.options) {
    if (!option.is_word()) {
      words.emplace_back(option.name);
    } else {
      for (std::string& word : candidates(option)) words.push_back(std::move(word));
    }
  }
  words.emplace_back("--help");
  return words;
}

bool takes_files(const Command& command) {
  return std::any_of(command.options.begin(), command.options.end(),
                     [](const Option& option) { return option.is_word() && option.is_path(); });
}

std::vector<std::string_view> command_names(const std::vector<Command>& commands) {
  std::vector<std::string_view> names;
  for (const Command& command : commands) names.push_back(command.help.name);
  return names;
}

std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (const char letter : text) out += letter == '\'' ? "'\\''" : std::string(1, letter == '\n' ? ' ' : letter);
  return out + "'";
}

// The value of an option that is being typed: "run:--threads) ...".
std::string bash_values(const Command& command) {
  std::string text;
  for (const Option& option : command.options) {
    if (option.is_word() || option.is_flag()) continue;
    const std::vector<std::string> words = candidates(option);
    const std::string reply = option.is_path() ? "COMPREPLY=($(compgen -f -- \"$word\"))"
                              : words.empty()
                                  ? ":"
                                  : fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\"))", fmt::join(words, " "));
    text += fmt::format("    {}:{}) {}; return ;;\n", command.help.name, option.name, reply);
  }
  return text;
}

std::string bash_words(const Command& command) {
  const std::string files = takes_files(command) ? " $(compgen -f -- \"$word\")" : "";
  return fmt::format("    {}) COMPREPLY=($(compgen -W '{}' -- \"$word\"){}) ;;\n", command.help.name,
                     fmt::join(line_words(command), " "), files);
}

std::string bash_script(const std::vector<Command>& commands) {
  std::string values, words;
  for (const Command& command : commands) {
    values += bash_values(command);
    words += bash_words(command);
  }
  return fmt::format(
      "_convgrad() {{\n"
      "  local word=\"${{COMP_WORDS[COMP_CWORD]}}\" before=\"${{COMP_WORDS[COMP_CWORD-1]}}\"\n"
      "  COMPREPLY=()\n"
      "  if [[ $COMP_CWORD -eq 1 ]]; then\n"
      "    COMPREPLY=($(compgen -W '{} --help --version' -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"${{COMP_WORDS[1]}}:$before\" in\n{}  esac\n"
      "  case \"${{COMP_WORDS[1]}}\" in\n{}  esac\n"
      "}}\n"
      "complete -o filenames -F _convgrad convgrad\n",
      fmt::join(command_names(commands), " "), values, words);
}

// "--threads[Threads]:N:", with brackets and colons of the text escaped.
std::string zsh_option(const Option& option) {
  std::string doc;
  for (const char letter : option.doc) {
    if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') doc += '\\';
    doc += letter == '\n' ? ' ' : letter;
  }
  const std::vector<std::string> words = candidates(option);
  const std::string action = option.is_path() ? "_files"
                             : words.empty()  ? " "
                                              : fmt::format("({})", fmt::join(words, " "));
  if (option.is_word()) {
    const bool list = std::holds_alternative<std::vector<std::string>*>(option.to);
    return single_quoted(fmt::format("{}:{}:{}", list ? "*" : "", option.name, action));
  }
  if (option.is_flag()) return single_quoted(fmt::format("{}[{}]", option.name, doc));
  return single_quoted(fmt::format("*{}=[{}]:value:{}", option.name, doc, action));
}

std::string zsh_script(const std::vector<Command>& commands) {
  std::string names, cases;
  for (const Command& command : commands) {
    names += fmt::format("    {}\n", single_quoted(fmt::format("{}:{}", command.help.name, command.help.summary)));
    cases += fmt::format("    {}) _arguments '--help[Show help]'", command.help.name);
    for (const Option& option : command.options) cases += " \\\n      " + zsh_option(option);
    cases += " ;;\n";
  }
  return fmt::format(
      "#compdef convgrad\n_convgrad() {{\n  local -a commands=(\n{}  )\n"
      "  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
      "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n{}  esac\n}}\n"
      "_convgrad \"$@\"\n",
      names, cases);
}

std::string fish_option(const Command& command, const Option& option) {
  const std::string seen = fmt::format("complete -c convgrad -n '__fish_seen_subcommand_from {}'", command.help.name);
  const std::vector<std::string> words = candidates(option);
  const std::string offered = words.empty() ? "" : fmt::format(" -a '{}'", fmt::join(words, " "));
  if (option.is_word()) return option.is_path() ? seen + " -F\n" : words.empty() ? "" : seen + offered + "\n";
  const std::string_view value = option.is_flag() ? "" : option.is_path() ? " -r -F" : " -x";
  return fmt::format("{} -l {}{}{} -d {}\n", seen, option.name.substr(2), value, offered, single_quoted(option.doc));
}

std::string fish_script(const std::vector<Command>& commands) {
  std::string text = "complete -c convgrad -f\n";
  for (const Command& command : commands) {
    text += fmt::format("complete -c convgrad -n __fish_use_subcommand -a {} -d {}\n", command.help.name,
                        single_quoted(command.help.summary));
    for (const Option& option : command.options) text += fish_option(command, option);
  }
  return text;
}

struct Shell {
  std::string_view name;
  std::string (*script)(const std::vector<Command>& commands);
};
constexpr Shell kShells[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

}  // namespace

std::vector<std::string> completion_shells() {
  std::vector<std::string> names;
  for (const Shell& shell : kShells) names.emplace_back(shell.name);
  return names;
}

int completion_command(const CompletionRequest& request) {
  const auto named = [&](const Shell& shell) { return shell.name == request.shell; };
  fmt::print("{}", std::find_if(std::begin(kShells), std::end(kShells), named)->script(all_commands()));
  return kOk;
}

}  // namespace convgrad::cli

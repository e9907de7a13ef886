// convgrad man: the manual page in roff, from the table of commands.
#include <fmt/core.h>

#include <string>

#include "cli/command.h"
#include "cli/commands.h"
#include "convgrad/version.h"

namespace convgrad::cli {
namespace {

// Text as roff prints it: no backslash, quote or hyphen has a meaning, and no line starts a request.
std::string roff(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts_line = i == 0 || text[i - 1] == '\n';
    if (starts_line && (text[i] == '.' || text[i] == '\'')) out += "\\&";
    switch (text[i]) {
      case '\\': out += "\\e"; break;
      case '-': out += "\\-"; break;
      case '\'': out += "\\(aq"; break;
      case '^': out += "\\(ha"; break;
      case '~': out += "\\(ti"; break;
      default: out += text[i];
    }
  }
  return out;
}

std::string examples(std::string_view lines) { return fmt::format(".PP\n.nf\n.RS\n{}.RE\n.fi\n", roff(lines)); }

std::string option_text(const Option& option) {
  const std::string value = option.value.empty() ? "" : fmt::format(" \\fI{}\\fR", roff(option.value));
  const std::string_view font = option.is_word() ? "I" : "B";
  return fmt::format(".TP\n\\f{}{}\\fR{}\n{}\n", font, roff(option.name), value, roff(option.doc));
}

std::string command_text(const Command& command) {
  std::string text = fmt::format(".SS {}\n{}.\n", roff(command.help.name), roff(command.help.summary));
  text += examples(command.help.examples);
  for (const Option& option : command.options) text += option_text(option);
  return text;
}

std::string page() {
  std::string text = fmt::format(
      ".TH CONVGRAD 1 \"\" \"convgrad {}\" \"User Commands\"\n.SH NAME\nconvgrad \\- {}\n.SH SYNOPSIS\n.B convgrad\n"
      ".I COMMAND\n[\\fIOPTIONS\\fR]\n.SH EXAMPLES\n",
      CONVGRAD_VERSION_STRING, roff("convolutions and their gradients, as TensorFlow defines them"));
  text += examples(kProgramExamples);
  text += ".SH COMMANDS\nEvery command takes \\fB\\-\\-help\\fR.\n";
  for (const Command& command : all_commands()) text += command_text(command);
  text += ".SH EXIT STATUS\n";
  for (const ExitCode& row : exit_codes()) text += fmt::format(".TP\n{}\n{}\n", row.code, roff(row.meaning));
  text +=
      ".SH ENVIRONMENT\n.TP\nNO_COLOR\nSet to anything: no colour, also on terminals.\n.TP\nCONVGRAD_TUNE_FILE\n"
      "A file that \\fBconvgrad tune\\fR wrote.\n.TP\nCONVGRAD_ISA\nThe instruction set to run.\n";
  return text;
}

}  // namespace

int man_command(const NoRequest&) {
  fmt::print("{}", page());
  return kOk;
}

}  // namespace convgrad::cli

// ECMA-48 escape sequences, nothing more.
#include "cli/terminal.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>

namespace convgrad::cli {
namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

bool is_terminal(std::FILE* stream) { return isatty(fileno(stream)) == 1; }

bool has_colour(std::FILE* stream) {
  if (!is_terminal(stream) || is_set("NO_COLOR")) return false;
  return !is_set("TERM") || std::string_view(std::getenv("TERM")) != "dumb";
}

std::string coloured(Colour colour, std::string_view text, std::FILE* stream) {
  if (!has_colour(stream)) return std::string(text);
  return fmt::format("\x1b[1;{}m{}\x1b[0m", colour == Colour::red ? 31 : 32, text);
}

}  // namespace convgrad::cli

// ECMA-48 escape sequences, nothing more.
#include "cli/terminal.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/answer.h"

namespace convgrad::cli {
namespace {

constexpr int kBarWidth = 30;
constexpr auto kRedraw = std::chrono::milliseconds(50);
constexpr const char* kEraseLine = "\r\x1b[K";

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

ProgressBar::~ProgressBar() {
  if (drawn_) fmt::print(stderr, "{}", kEraseLine);
}

void ProgressBar::draw(const graph::RunProgress& progress) {
  const auto now = std::chrono::steady_clock::now();
  if (!shown_ || (now - last_ < kRedraw && progress.done < progress.total)) return;
  last_ = now;
  drawn_ = true;
  const int filled = progress.total == 0 ? 0 : kBarWidth * progress.done / progress.total;
  fmt::print(stderr, "{}[{:<{}}] {}/{} {}", kEraseLine, std::string(static_cast<std::size_t>(filled), '#'), kBarWidth,
             progress.done, progress.total, printable(shortened(progress.node->name(), 40)));
  std::fflush(stderr);
}

}  // namespace convgrad::cli

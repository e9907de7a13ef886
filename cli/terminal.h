// What only a terminal gets: colour and a progress bar. Files and pipes get plain text.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

#include "convgrad/graph/session.h"

namespace convgrad::cli {

bool is_terminal(std::FILE* stream);
// A terminal that is not TERM=dumb, unless NO_COLOR is set to anything (no-color.org).
bool has_colour(std::FILE* stream);

enum class Colour { red, green };
// The text as it is where the stream has no colour.
std::string coloured(Colour colour, std::string_view text, std::FILE* stream);

// One line on stderr that is drawn over and over, and gone at the end.
class ProgressBar {
 public:
  ProgressBar() : shown_(is_terminal(stderr)) {}
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar();
  void draw(const graph::RunProgress& progress);

 private:
  bool shown_, drawn_ = false;
  std::chrono::steady_clock::time_point last_ = {};
};

}  // namespace convgrad::cli

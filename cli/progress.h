// The progress bar of a graph that runs.
#pragma once

#include <chrono>

#include "cli/terminal.h"
#include "convgrad/graph/session.h"

namespace convgrad::cli {

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

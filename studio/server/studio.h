// convgrad studio: the block editor in a browser, served from this machine to this machine.
#pragma once

#include <string>

#include "studio/server/budgets.h"

namespace convgrad::studio {

struct Options {
  std::string file = {};    // of `folder`, to be opened first; empty: none
  std::string folder = {};  // the only one whose files are read and written
  int port = 0;             // 0: any that is free
  bool open = true;         // start a browser where there is one
  bool verbose = false;     // a line of JSON on stderr for every request
  std::string page = {};    // a folder to take the page from; empty: from the program
  Budgets budgets = {};
};

// Serves until SIGINT or SIGTERM. Answers the exit code.
int serve(const Options& options);

}  // namespace convgrad::studio

// The words of the command line to one of the commands.
#pragma once

namespace convgrad::cli {

// Parses, runs the command, and answers the exit code. May throw std::exception for what no command
// expects: main() catches it.
int run_command_line(int argc, char** argv);

}  // namespace convgrad::cli

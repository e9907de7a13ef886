// The list of commands, group by group.
#include "cli/command.h"
#include "cli/commands.h"

namespace convgrad::cli {
namespace {

constexpr ExitCode kExitCodes[] = {
    {kOk, "done, or everything checked is legal"},
    {kFailed, "a file cannot be read or written, or an unexpected failure"},
    {kRefused, "the problem, the graph, the call or the command line is refused; stderr says why"},
    {kCancelled, "stopped by an interrupt (Ctrl-C)"},
};

}  // namespace

std::span<const ExitCode> exit_codes() { return kExitCodes; }

#ifndef CONVGRAD_STUDIO
std::vector<Command> studio_commands() { return {}; }
#endif

std::vector<Command> all_commands() {
  std::vector<Command> all;
  for (const auto group : {run_commands, describe_commands, graph_commands, studio_commands, measure_commands}) {
    for (Command& one : group()) all.push_back(std::move(one));
  }
  return all;
}

}  // namespace convgrad::cli

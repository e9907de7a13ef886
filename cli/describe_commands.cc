// ops, doctor, schema, completion and man: their options.
#include "cli/command.h"
#include "cli/commands.h"

namespace convgrad::cli {
namespace {

std::vector<Option> ops_options(OpsRequest& request) {
  return {{"NAME", "", "An op to show in full; left out: a list of all", &request.name, Offer::ops},
          {"--json", "", "Answer as JSON", &request.json},
          {"--markdown", "", "The reference page of all graph ops", &request.markdown}};
}

std::vector<Option> doctor_options(DoctorRequest& request) { return {{"--json", "", "Answer as JSON", &request.json}}; }

std::vector<Option> completion_options(CompletionRequest& request) {
  return {{.name = "SHELL",
           .value = "",
           .doc = "bash, zsh or fish",
           .to = &request.shell,
           .choices = completion_shells(),
           .required = true}};
}

std::vector<Option> no_options(NoRequest&) { return {}; }

}  // namespace

std::vector<Command> describe_commands() {
  return {
      command<OpsRequest>({"ops", "List the ops with their arguments, dtypes and data formats",
                           "  convgrad ops\n"
                           "  convgrad ops Conv3DBackpropFilterV2\n"
                           "  convgrad ops --json\n"},
                          ops_options, ops_command),
      command<DoctorRequest>({"doctor", "Describe this machine and build, for a bug report",
                              "  convgrad doctor\n"
                              "  convgrad doctor --json\n"},
                             doctor_options, doctor_command),
      command<NoRequest>(
          {"schema", "Print the JSON Schema of graph files", "  convgrad schema > convgrad-graph.schema.json\n"},
          no_options, schema_command),
      command<CompletionRequest>({"completion", "Print a shell's completion script",
                                  "  convgrad completion bash > ~/.local/share/bash-completion/completions/convgrad\n"
                                  "  convgrad completion zsh > ~/.zfunc/_convgrad\n"
                                  "  convgrad completion fish > ~/.config/fish/completions/convgrad.fish\n"},
                                 completion_options, completion_command),
      command<NoRequest>({"man", "Print the manual page",
                          "  convgrad man > convgrad.1\n"
                          "  convgrad man | man -l -\n"},
                         no_options, man_command)};
}

}  // namespace convgrad::cli

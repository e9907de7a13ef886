// run, explain and check: their options.
#include "cli/command.h"
#include "cli/commands.h"
#include "convgrad/math_mode.h"

namespace convgrad::cli {
namespace {

constexpr const char* kGraphOrProblem =
    "A graph file (.json, - is standard input), or a problem string, e.g.\nn2c16h9w9_k8r3s3_st2_same_f32_filter_grad";

std::vector<Option> run_options(RunRequest& request) {
  std::vector<Option> options = {
      {.name = "GRAPH|PROBLEM",
       .value = "",
       .doc = kGraphOrProblem,
       .to = &request.subject,
       .offer = Offer::files,
       .required = true},
      {"--fetch", "NAME[:I]", "Graph: outputs to show, a list with commas or several; left out: the page's",
       &request.fetch},
      {"--feed", "NAME=A.npy", "Graph: a tensor in place of an output; may stand several times", &request.feed},
      {"--first", "A.npy", "Problem: first operand: input, or filter for input_grad", &request.first, Offer::files},
      {"--second", "B.npy", "Problem: second operand: filter, or out_backprop for gradients", &request.second,
       Offer::files},
      {"--out", "PATH", "Problem: write the result to this .npy file. Graph: one .npy file a fetch into this folder",
       &request.out, Offer::files},
      {"--seed", "N", "Problem: seed of the operands that no file gives; left out: 0", &request.seed}};
  add_policy(options, request.policy);
  options.push_back({"--dry-run", "", "Show the plan and each tensor's bytes; run nothing", &request.dry_run});
  options.push_back({"--json", "", "Answer as JSON", &request.json});
  return options;
}

std::vector<Option> explain_options(ExplainRequest& request) {
  std::vector<Option> options = {{.name = "GRAPH|PROBLEM",
                                  .value = "",
                                  .doc = kGraphOrProblem,
                                  .to = &request.subject,
                                  .offer = Offer::files,
                                  .required = true}};
  add_policy(options, request.policy);
  return options;
}

std::vector<Option> check_options(CheckRequest& request) {
  return {{"CALL", "",
           "A graph file, a problem string, or a TensorFlow op name and key=value words. Keys: dtype,\n"
           "input, filter, out_backprop, input_sizes, filter_sizes, strides, dilations, padding,\n"
           "explicit_paddings, data_format. Values: integers joined by commas; nothing is a scalar shape or\n"
           "an empty list; scalar:N is a bare number in place of a size vector",
           &request.words, Offer::files},
          {"--case", "FILE.json", "Case object, array, or {\"cases\": [...]}; - is standard input", &request.case_file,
           Offer::files},
          {"--json", "", "Answer as JSON, one object a line", &request.json}};
}

std::vector<std::string> math_names() {
  std::vector<std::string> names;
  for (const MathInfo& row : all_math()) names.emplace_back(row.name);
  return names;
}

// A line a mode.
std::string math_doc() {
  std::string doc = "What engines may do to the last bits; left out: standard";
  for (const MathInfo& row : all_math()) doc += "\n" + std::string(row.name) + ": " + std::string(row.meaning);
  return doc;
}

}  // namespace

void add_policy(std::vector<Option>& options, PolicyRequest& policy) {
  options.push_back({"--engine", "NAME", "Engine by name; left out: the cheapest", &policy.engine});
  options.push_back({"--threads", "N", "Threads; 0: one a core", &policy.threads});
  options.push_back({"--math", "MODE", math_doc(), &policy.math, Offer::nothing, math_names()});
}

std::vector<Command> run_commands() {
  return {command<RunRequest>({"run", "Compute a graph or one problem and show the results",
                               "  convgrad run examples/graphs/conv3d_backprop_filter_v2.json\n"
                               "  convgrad run net.json --feed x=x.npy --fetch loss,dw --out results --threads 4\n"
                               "  convgrad run n2c16h9w9_k8r3s3_st2_same_f32_filter_grad\n"
                               "  convgrad run n1c1h4w4_k1r3s3_valid_forward --first x.npy --second f.npy --out y.npy\n"
                               "  convgrad run n8c64h56w56_k64r3s3_same_bf16_input_grad --seed 7 --threads 4 --json\n"
                               "  convgrad run n8c64h56w56_k64r3s3_same_f32_filter_grad --dry-run\n"},
                              run_options, run_command),
          command<ExplainRequest>(
              {"explain", "Show what would run, what it costs, and why",
               "  convgrad explain net.json\n"
               "  convgrad explain n2c16h9w9_k8r3s3_st2_same_f32_filter_grad\n"
               "  convgrad explain n2c16h9w9_k8r3s3_st2_same_f32_filter_grad --engine reference --threads 1\n"},
              explain_options, explain_command),
          command<CheckRequest>(
              {"check", "Validate a graph, a problem, an op call or a file of cases; compute nothing",
               "  convgrad check net.json\n"
               "  convgrad check n2c16h9w9_k8r3s3_st2_same_f32_filter_grad\n"
               "  convgrad check Conv2DBackpropFilter input=1,1,1,2 filter_sizes=1,1,1,1 out_backprop=1,1,1,1 \\\n"
               "                 strides=1,66,49,1 padding=VALID\n"
               "  convgrad check Conv3DBackpropFilterV2 input=2,2,2,2,1 filter_sizes=scalar:0 padding=VALID\n"
               "  convgrad check --case cases.json --json\n"},
              check_options, check_command)};
}

}  // namespace convgrad::cli

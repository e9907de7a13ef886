// infer, grad, gradcheck and convert: their options.
#include "cli/command.h"
#include "cli/commands.h"

namespace convgrad::cli {
namespace {

Option graph_word(std::string& to) {
  return {.name = "GRAPH",
          .value = "",
          .doc = "A graph file; - is standard input",
          .to = &to,
          .offer = Offer::files,
          .required = true};
}

Option names(std::string_view name, std::string doc, std::vector<std::string>& to) {
  return {.name = name, .value = "NAME[:I]", .doc = std::move(doc), .to = &to, .required = true};
}

std::vector<Option> infer_options(InferRequest& request) {
  return {graph_word(request.graph), {"--json", "", "Answer as JSON", &request.json}};
}

std::vector<Option> grad_options(GradRequest& request) {
  return {graph_word(request.graph),
          names("--of", "Outputs to differentiate, a list with commas", request.of),
          names("--wrt", "Outputs to differentiate by, a list with commas", request.wrt),
          {"--out", "FILE.json", "Write the graph there; left out: standard output", &request.out, Offer::files}};
}

std::vector<Option> gradcheck_options(GradcheckRequest& request) {
  return {graph_word(request.graph),
          names("--of", "Outputs to differentiate, a list with commas", request.of),
          names("--wrt", "Outputs to differentiate by, a list with commas", request.wrt),
          {"--feed", "NAME=A.npy", "Where to differentiate; left out: a constant's value, else random numbers",
           &request.feed},
          {"--tolerance", "T", "Largest difference that passes; left out: from the element type and the length",
           &request.tolerance},
          {"--json", "", "Answer as JSON", &request.json}};
}

std::vector<Option> convert_options(ConvertRequest& request) {
  return {{.name = "IN",
           .value = "",
           .doc = "A graph file or an enuSpace page; - is standard input",
           .to = &request.in,
           .offer = Offer::files,
           .required = true},
          {.name = "OUT",
           .value = "",
           .doc = "The file to write; - is standard output",
           .to = &request.out,
           .offer = Offer::files,
           .required = true},
          {"--to", "FORM", "Left out: by OUT's ending, .json, .cc, .cpp, .py, .dot or .gv", &request.to, Offer::nothing,
           convert_forms()}};
}

}  // namespace

std::vector<Command> graph_commands() {
  return {command<InferRequest>({"infer", "Show the element type and shape of every wire of a graph",
                                 "  convgrad infer net.json\n"
                                 "  convgrad infer net.json --json\n"},
                                infer_options, infer_command),
          command<GradRequest>({"grad", "Add the nodes of gradients to a graph",
                                "  convgrad grad net.json --of loss --wrt x,w --out with_gradients.json\n"
                                "  convgrad grad net.json --of loss --wrt w | convgrad run -\n"},
                               grad_options, grad_command),
          command<GradcheckRequest>({"gradcheck", "Compare a graph's gradients with differences in double",
                                     "  convgrad gradcheck net.json --of y --wrt x,w\n"
                                     "  convgrad gradcheck net.json --of y --wrt w --feed x=x.npy --json\n"},
                                    gradcheck_options, gradcheck_command),
          command<ConvertRequest>({"convert", "Write a graph in another form: a page, a program, a drawing",
                                   "  convgrad convert page.json net.json\n"
                                   "  convgrad convert net.json net.cc\n"
                                   "  convgrad convert net.json net.cc --to cpp-eager\n"
                                   "  convgrad convert net.json page.json --to enuspace\n"
                                   "  convgrad convert net.json - --to dot | dot -Tsvg > net.svg\n"},
                                  convert_options, convert_command)};
}

}  // namespace convgrad::cli

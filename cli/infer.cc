// convgrad infer, and convgrad check of a graph: what every wire carries, or why it does not.
#include "cli/infer.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/inferred.h"
#include "cli/pages.h"
#include "cli/terminal.h"

namespace convgrad::cli {
namespace {

Result<InferredPage> infer(const std::string& path) {
  Result<graph::Page> page = read_page(path);
  if (!page.ok()) return page.status();
  return inferred(std::move(*page));
}

std::string_view op_of(const graph::Page& page, const std::string& id) {
  const auto named = [&](const graph::PageNode& node) { return node.id == id; };
  const auto found = std::find_if(page.nodes.begin(), page.nodes.end(), named);
  return found == page.nodes.end() ? std::string_view() : std::string_view(found->op);
}

void print_wires(const InferredPage& inferred) {
  for (const graph::NodeReport& report : inferred.reports) {
    for (std::size_t i = 0; i < report.outputs.size(); ++i) {
      fmt::print("{}.{} {} {}\n", printable(report.id), output_pin(op_of(inferred.page, report.id), i),
                 graph::DataTypeString(report.outputs[i].dtype), report.outputs[i].shape.DebugString());
    }
  }
}

int refuse_all(const std::vector<Status>& errors) {
  int code = kOk;
  for (const Status& error : errors) code = refuse(error);
  return code;
}

int refuse_page(const Status& status, bool json) {
  if (json) print_json(Json{{"ok", false}, {"errors", errors_json({status})}});
  return refuse(status);
}

}  // namespace

int infer_command(const InferRequest& request) {
  const Result<InferredPage> inferred = infer(request.graph);
  if (!inferred.ok()) return refuse_page(inferred.status(), request.json);
  request.json ? print_json(inferred_json(*inferred)) : print_wires(*inferred);
  return refuse_all(inferred->errors);
}

int check_graph(const std::string& path, bool json) {
  const Result<InferredPage> inferred = infer(path);
  if (!inferred.ok()) return refuse_page(inferred.status(), json);
  if (json) {
    print_json(Json{{"ok", inferred->errors.empty()}, {"errors", errors_json(inferred->errors)}});
  } else if (inferred->errors.empty()) {
    print_line(fmt::format("{} {} nodes, {} wires", coloured(Colour::green, "ok", stdout), inferred->page.nodes.size(),
                           inferred->page.edges.size()));
  }
  return refuse_all(inferred->errors);
}

}  // namespace convgrad::cli

// convgrad infer, and convgrad check of a graph: what every wire carries, or why it does not.
#include <fmt/core.h>

#include <algorithm>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/infer.h"
#include "cli/pages.h"
#include "cli/terminal.h"

namespace convgrad::cli {
namespace {

struct Inferred {
  graph::Page page;
  std::vector<graph::NodeReport> reports;
  std::vector<Status> errors;
};

// Every node's own mistake; what only the page as a whole has (circles, names, fetches) when no node has one.
std::vector<Status> errors_of(const graph::Page& page, const std::vector<graph::NodeReport>& reports) {
  std::vector<Status> errors;
  for (const graph::NodeReport& report : reports) {
    if (!report.status.ok()) errors.push_back(report.status);
  }
  if (errors.empty()) {
    if (const Result<graph::PageGraph> built = graph::build_page(page); !built.ok()) errors.push_back(built.status());
  }
  return errors;
}

Result<Inferred> infer(const std::string& path) {
  Result<graph::Page> page = read_page(path);
  if (!page.ok()) return page.status();
  std::vector<graph::NodeReport> reports = graph::infer_page(*page);
  std::vector<Status> errors = errors_of(*page, reports);
  return Inferred{std::move(*page), std::move(reports), std::move(errors)};
}

std::string_view op_of(const graph::Page& page, const std::string& id) {
  const auto named = [&](const graph::PageNode& node) { return node.id == id; };
  const auto found = std::find_if(page.nodes.begin(), page.nodes.end(), named);
  return found == page.nodes.end() ? std::string_view() : std::string_view(found->op);
}

std::string_view output_pin(std::string_view op, std::size_t index) {
  const graph::OpSpec* spec = graph::find_graph_op(op);
  return spec != nullptr && index < spec->outputs.size() ? std::string_view(spec->outputs[index].name) : "output";
}

// -1 stands for a size that is not known, null for a rank that is not.
Json shape_json(const graph::PartialTensorShape& shape) { return shape.unknown_rank() ? Json() : Json(shape.sizes()); }

Json report_json(const graph::NodeReport& report, std::string_view op) {
  Json outputs = Json::array();
  for (std::size_t i = 0; i < report.outputs.size(); ++i) {
    outputs.push_back(Json{{"pin", output_pin(op, i)},
                           {"dtype", graph::DataTypeString(report.outputs[i].dtype)},
                           {"shape", shape_json(report.outputs[i].shape)}});
  }
  Json json = {{"id", report.id}, {"op", op}, {"ok", report.status.ok()}, {"outputs", outputs}};
  if (!report.status.ok()) json["error"] = status_json(report.status);
  return json;
}

void print_wires(const Inferred& inferred) {
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

Json errors_json(const std::vector<Status>& errors) {
  Json json = Json::array();
  for (const Status& error : errors) json.push_back(status_json(error));
  return json;
}

int refuse_page(const Status& status, bool json) {
  if (json) print_json(Json{{"ok", false}, {"errors", errors_json({status})}});
  return refuse(status);
}

}  // namespace

int infer_command(const InferRequest& request) {
  const Result<Inferred> inferred = infer(request.graph);
  if (!inferred.ok()) return refuse_page(inferred.status(), request.json);
  if (!request.json) {
    print_wires(*inferred);
    return refuse_all(inferred->errors);
  }
  Json nodes = Json::array();
  for (const graph::NodeReport& report : inferred->reports)
    nodes.push_back(report_json(report, op_of(inferred->page, report.id)));
  print_json({{"ok", inferred->errors.empty()}, {"nodes", nodes}, {"errors", errors_json(inferred->errors)}});
  return refuse_all(inferred->errors);
}

int check_graph(const std::string& path, bool json) {
  const Result<Inferred> inferred = infer(path);
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

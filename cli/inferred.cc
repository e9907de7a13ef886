#include "cli/inferred.h"

#include <map>

namespace convgrad::cli {
namespace {

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

}  // namespace

InferredPage inferred(graph::Page page) {
  std::vector<graph::NodeReport> reports = graph::infer_page(page);
  std::vector<Status> errors = errors_of(page, reports);
  return {std::move(page), std::move(reports), std::move(errors)};
}

std::string_view output_pin(std::string_view op, std::size_t index) {
  const graph::OpSpec* spec = graph::find_graph_op(op);
  return spec != nullptr && index < spec->outputs.size() ? std::string_view(spec->outputs[index].name) : "output";
}

Json shape_json(const graph::PartialTensorShape& shape) { return shape.unknown_rank() ? Json() : Json(shape.sizes()); }

Json errors_json(const std::vector<Status>& errors) {
  Json json = Json::array();
  for (const Status& error : errors) json.push_back(status_json(error));
  return json;
}

Json inferred_json(const InferredPage& inferred) {
  std::map<std::string_view, std::string_view> ops;
  for (const graph::PageNode& node : inferred.page.nodes) ops.emplace(node.id, node.op);
  Json nodes = Json::array();
  for (const graph::NodeReport& report : inferred.reports) nodes.push_back(report_json(report, ops[report.id]));
  return {{"ok", inferred.errors.empty()}, {"nodes", nodes}, {"errors", errors_json(inferred.errors)}};
}

}  // namespace convgrad::cli

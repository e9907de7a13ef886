// convgrad ops: every op with its arguments, element types and data formats.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/ops_reference.h"
#include "cli/suggest.h"
#include "convgrad/geometry.h"
#include "convgrad/graph/page.h"
#include "convgrad/version.h"

namespace convgrad::cli {
namespace {

std::vector<std::string_view> arguments_of(const OpInfo& op) {
  const auto names = tensor_arguments(op.direction);
  return {names.begin(), names.end()};
}

std::vector<std::string_view> dtypes_of(const OpInfo& op) {
  std::vector<std::string_view> names;
  for (const DTypeInfo& row : all_dtypes()) {
    if (takes(op.op, row.dtype)) names.push_back(row.numpy_name);
  }
  return names;
}

std::vector<std::string_view> formats_of(const OpInfo& op) {
  return {data_format(Layout::channels_last, op.rank), data_format(Layout::channels_first, op.rank)};
}

Json op_json(const OpInfo& op) {
  return {{"name", op.name},
          {"id", op.id},
          {"direction", name(op.direction)},
          {"rank", op.rank},
          {"arguments", arguments_of(op)},
          {"dtypes", dtypes_of(op)},
          {"data_formats", formats_of(op)},
          {"summary", op.summary}};
}

Json dtype_json(const DTypeInfo& row) {
  return {{"id", row.id},
          {"tf_name", row.tf_name},
          {"numpy_name", row.numpy_name},
          {"bytes", row.bytes},
          {"unit_roundoff", row.unit_roundoff}};
}

Json all_json() {
  Json json = {{"version", CONVGRAD_VERSION_STRING},
               {"ops", Json::array()},
               {"dtypes", Json::array()},
               {"rules", Json::array()}};
  for (const OpInfo& op : all_ops()) json["ops"].push_back(op_json(op));
  for (const DTypeInfo& row : all_dtypes()) json["dtypes"].push_back(dtype_json(row));
  for (const RuleInfo& rule : all_rules()) json["rules"].push_back(Json{{"id", rule.id}, {"meaning", rule.meaning}});
  json["graph"] = Json::parse(graph::ops_json());
  return json;
}

std::string eager_text(const OpInfo& op) {
  return fmt::format("{}({})\n  {}\n  dtypes {}; data formats {}\n", op.name, fmt::join(arguments_of(op), ", "),
                     op.summary, fmt::join(dtypes_of(op), ", "), fmt::join(formats_of(op), ", "));
}

void print_all() {
  for (const OpInfo& op : all_ops()) fmt::print("{}", eager_text(op));
  std::string_view group;
  for (const graph::OpSpec* op : graph::all_graph_ops()) {
    if (op->group != group) fmt::print("\nIn graphs: {}\n", op->group);
    group = op->group;
    fmt::print("  {:<36} {}\n", op->name, op->doc);
  }
}

Status unknown_op(std::string_view name) {
  std::vector<std::string> names;
  for (const graph::OpSpec* op : graph::all_graph_ops()) names.push_back(op->name);
  for (const OpInfo& op : all_ops()) names.emplace_back(op.name);
  return complain({.rule = "op-name",
                   .argument = "NAME",
                   .reason = fmt::format("there is no op {}{}", in_quotes(name), did_you_mean(name, names)),
                   .got = in_quotes(name),
                   .wanted = "an op of `convgrad ops`"});
}

// An op of graphs, or one that only the eager calls have.
Result<std::string> text_of(std::string_view name) {
  if (const graph::OpSpec* op = graph::find_graph_op(name)) return op_text(*op);
  if (const std::optional<Op> op = op_from_name(name)) return eager_text(info(*op));
  return unknown_op(name);
}

int print_one(std::string_view name) {
  const Result<std::string> text = text_of(name);
  if (!text.ok()) return refuse(text.status());
  fmt::print("{}", *text);
  return kOk;
}

}  // namespace

int ops_command(const OpsRequest& request) {
  if (request.json + request.markdown + !request.name.empty() > 1)
    return refuse_usage("ops takes a name, --json or --markdown, one of them");
  if (!request.name.empty()) return print_one(request.name);
  if (request.json) {
    print_json(all_json());
  } else if (request.markdown) {
    fmt::print("{}", ops_markdown());
  } else {
    print_all();
  }
  return kOk;
}

int schema_command(const NoRequest&) {
  fmt::print("{}", graph::page_schema());
  return kOk;
}

}  // namespace convgrad::cli

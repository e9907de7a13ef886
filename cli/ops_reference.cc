// Pins and attributes as rows of three columns, then as text or as Markdown.
#include "cli/ops_reference.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace convgrad::cli {
namespace {

using graph::AttrSpec;
using graph::OpSpec;
using graph::PinSpec;

struct Row {
  std::string name, kind, doc;
};

std::vector<Row> pin_rows(const std::vector<PinSpec>& pins) {
  std::vector<Row> rows;
  for (const PinSpec& pin : pins) {
    rows.push_back(
        {pin.name, fmt::format("{}{}{}", pin.type, pin.list ? ", one or more" : "", pin.variable ? ", a variable" : ""),
         pin.doc});
  }
  return rows;
}

std::string types_text(const std::vector<graph::DataType>& types) {
  std::vector<std::string> names;
  for (const graph::DataType type : types) names.push_back(graph::DataTypeString(type));
  return names.empty() ? "any" : fmt::format("{}", fmt::join(names, ", "));
}

std::string kind_text(const AttrSpec& attr) {
  if (attr.kind == graph::AttrKind::type) return types_text(attr.types);
  return attr.choices.empty() ? std::string(name(attr.kind)) : fmt::format("{}", fmt::join(attr.choices, ", "));
}

Row attr_row(const AttrSpec& attr) {
  const std::string given = attr.from_inputs ? "; the inputs decide it"
                            : attr.fallback  ? fmt::format("; default {}", to_text(*attr.fallback))
                                             : "; needed";
  return {attr.name, kind_text(attr) + given, attr.doc};
}

std::vector<Row> attr_rows(const OpSpec& op) {
  std::vector<Row> rows;
  for (const AttrSpec& attr : op.attrs) rows.push_back(attr_row(attr));
  return rows;
}

std::string text_table(std::string_view head, const std::vector<Row>& rows) {
  if (rows.empty()) return {};
  std::size_t width = 0;
  for (const Row& row : rows) width = std::max(width, row.name.size());
  std::string text = fmt::format("{}\n", head);
  for (const Row& row : rows) {
    text += fmt::format("  {:<{}}  {}\n", row.name, width, row.kind);
    if (!row.doc.empty()) text += fmt::format("  {:<{}}  {}\n", "", width, row.doc);
  }
  return text;
}

std::string cell(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '|' || letter == '<') escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

std::string markdown_table(std::string_view head, const std::vector<Row>& rows) {
  if (rows.empty()) return {};
  std::string text = fmt::format("\n| {} | type | meaning |\n| --- | --- | --- |\n", head);
  for (const Row& row : rows) text += fmt::format("| `{}` | {} | {} |\n", row.name, cell(row.kind), cell(row.doc));
  return text;
}

std::string op_markdown(const OpSpec& op) {
  return fmt::format("\n### {}\n\n{}{}\n{}{}{}", op.name, op.doc, op.has_gradient ? "" : " It has no gradient.",
                     markdown_table("input", pin_rows(op.inputs)), markdown_table("attribute", attr_rows(op)),
                     markdown_table("output", pin_rows(op.outputs)));
}

}  // namespace

std::string signature(const OpSpec& op) {
  std::vector<std::string> names;
  for (const PinSpec& pin : op.inputs) names.push_back(pin.name);
  return fmt::format("{}({})", op.name, fmt::join(names, ", "));
}

std::string op_text(const OpSpec& op) {
  return fmt::format("{}\n  {}\ngroup\n  {}\ngradient\n  {}\n{}{}{}", signature(op), op.doc, op.group,
                     op.has_gradient ? "yes" : "none", text_table("inputs", pin_rows(op.inputs)),
                     text_table("attributes", attr_rows(op)), text_table("outputs", pin_rows(op.outputs)));
}

std::string ops_markdown() {
  std::string text =
      "# Ops of graphs\n\nMade from the op table by `convgrad ops --markdown`; not written by hand. Types in capital\n"
      "letters are attributes: where two pins have the same, their tensors have one element type.\n";
  std::string_view group;
  for (const OpSpec* op : graph::all_graph_ops()) {
    if (op->group != group) text += fmt::format("\n## {}\n", op->group);
    group = op->group;
    text += op_markdown(*op);
  }
  return text;
}

}  // namespace convgrad::cli

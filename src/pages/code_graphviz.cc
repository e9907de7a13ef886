#include <algorithm>

#include "pages/code.h"

namespace convgrad::graph {
namespace {

// In quotes for Graphviz, where a backslash starts an escape and line ends are written \n.
string dot_quoted(std::string_view text) {
  string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (c == '\n')
      out += "\\n";
    else
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

string wires_text(const std::vector<WireInfo>& outputs) {
  string text;
  for (const WireInfo& output : outputs)
    text += concat("\n", DataTypeString(output.dtype), " ", output.shape.DebugString());
  return text;
}

}  // namespace

string graphviz_code(const Page& page) {
  const std::vector<NodeReport> reports = infer_page(page);
  string out = "// Made from a page of convgrad.\ndigraph page {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n";
  for (std::size_t i = 0; i < std::min(page.nodes.size(), reports.size()); ++i) {
    const PageNode& node = page.nodes[i];
    const NodeReport& report = reports[i];
    const string label = concat(node.name.empty() ? node.id : node.name, "\n", node.op,
                                report.status.ok() ? wires_text(report.outputs) : "\n" + report.status.message());
    out += concat("  ", dot_quoted(node.id), " [label=", dot_quoted(label), report.status.ok() ? "" : ", color=red",
                  "];\n");
  }
  for (const PageEdge& edge : page.edges) {
    const bool control = edge.to.pin == "^";
    out += concat("  ", dot_quoted(edge.from.node), " -> ", dot_quoted(edge.to.node),
                  control ? string(" [style=dashed]") : concat(" [label=", dot_quoted(edge.to.pin), "]"), ";\n");
  }
  for (const PagePin& fetch : page.fetch)
    out += concat("  ", dot_quoted(fetch.node), " -> ", dot_quoted("fetch " + fetch.node + ":" + fetch.pin), ";\n");
  return out + "}\n";
}

}  // namespace convgrad::graph

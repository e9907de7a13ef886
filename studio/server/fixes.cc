#include "studio/server/fixes.h"

#include <fmt/core.h>

#include <map>
#include <optional>

namespace convgrad::studio {
namespace {

using cli::Json;
using graph::PagePin;

class Fixer {
 public:
  explicit Fixer(const graph::Page& page) : page_(page) {
    for (const graph::PageNode& node : page.nodes) nodes_.emplace(node.id, &node);
    for (const graph::PageEdge& edge : page.edges) sources_.emplace(edge.to, edge.from);
  }

  std::optional<Json> fix(const Json& error) const {
    const auto node = nodes_.find(error.value("node", ""));
    if (node == nodes_.end()) return std::nullopt;
    const std::string argument = error.value("argument", "");
    if (argument == "filter_sizes" || argument == "input_sizes") return wire_sizes(*node->second, argument);
    if (argument == "data_format") return usual_format(*node->second);
    return std::nullopt;
  }

 private:
  const PagePin* source(const std::string& node, const std::string& pin) const {
    const auto found = sources_.find({node, pin});
    return found == sources_.end() ? nullptr : &found->second;
  }

  // The sizes of a gradient are those of a tensor that a forward block reads: of the block that reads the gradient's
  // other operand, too.
  std::optional<Json> wire_sizes(const graph::PageNode& gradient, const std::string& sizes) const {
    if (source(gradient.id, sizes) != nullptr) return std::nullopt;
    const bool filter = sizes == "filter_sizes";
    const PagePin* shared = source(gradient.id, filter ? "input" : "filter");
    const std::string forward = gradient.op.substr(0, gradient.op.find("Backprop"));
    for (const graph::PageNode& node : page_.nodes) {
      const PagePin* same = node.op == forward ? source(node.id, filter ? "input" : "filter") : nullptr;
      const PagePin* original = source(node.id, filter ? "filter" : "input");
      if (shared == nullptr || same == nullptr || original == nullptr || *same != *shared) continue;
      const Json from = Json::array({original->node, original->pin}), to = Json::array({gradient.id, sizes});
      return Json{{"text", fmt::format("take the sizes of {}", original->node)},
                  {"commands", Json::array({Json{{"connect", Json::array({from, to})}}})}};
    }
    return std::nullopt;
  }

  std::optional<Json> usual_format(const graph::PageNode& node) const {
    const graph::OpSpec* op = graph::find_graph_op(node.op);
    const graph::AttrSpec* attr = op == nullptr ? nullptr : op->attr("data_format");
    const auto* usual = attr == nullptr || !attr->fallback ? nullptr : std::get_if<std::string>(&*attr->fallback);
    if (usual == nullptr) return std::nullopt;
    return Json{{"text", fmt::format("use {}", *usual)},
                {"commands", Json::array({Json{{"set", Json::array({node.id, "data_format", *usual})}}})}};
  }

  const graph::Page& page_;
  std::map<std::string, const graph::PageNode*> nodes_;
  std::map<PagePin, PagePin> sources_;
};

void add_fix(Json& error, const Fixer& fixer) {
  if (std::optional<Json> fix = fixer.fix(error)) error["fix"] = std::move(*fix);
}

}  // namespace

void add_fixes(Json& json, const cli::InferredPage& inferred) {
  const Fixer fixer(inferred.page);
  for (Json& node : json["nodes"]) {
    if (node.contains("error")) add_fix(node["error"], fixer);
  }
  for (Json& error : json["errors"]) add_fix(error, fixer);
}

}  // namespace convgrad::studio

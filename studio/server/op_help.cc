#include "studio/server/op_help.h"

#include <optional>

#include "convgrad/graph/page.h"
#include "convgrad/terms.h"
#include "studio/server/gallery.h"

namespace convgrad::studio {
namespace {

// Of convolutions in graphs, which have variants of one sum: DepthwiseConv2dNative, Conv2DBackpropFilterV2.
std::optional<Direction> direction_of(std::string name) {
  constexpr std::string_view kDepthwise = "DepthwiseConv2dNative", kVersion = "V2";
  if (name.starts_with(kDepthwise)) name.replace(0, kDepthwise.size(), "Conv2D");
  std::optional<Op> op = op_from_name(name);
  if (!op && name.ends_with(kVersion)) op = op_from_name(name.substr(0, name.size() - kVersion.size()));
  if (op) return info(*op).direction;
  return name == "BiasAddGrad" ? std::optional(Direction::bias_grad) : std::nullopt;
}

std::string made() {
  Json table = Json::parse(graph::ops_json());
  for (Json& op : table["ops"]) {
    const std::string name = op["name"], scene = scene_of(name);
    if (const std::optional<Direction> direction = direction_of(name)) op["formula"] = formula(*direction);
    if (!scene.empty()) op["scene"] = scene;
  }
  return table.dump();
}

}  // namespace

const std::string& ops_with_help() {
  static const std::string text = made();
  return text;
}

}  // namespace convgrad::studio

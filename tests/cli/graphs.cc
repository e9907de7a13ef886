#include "cli/graphs.h"

#include <functional>
#include <numeric>

#include "cli/program.h"
#include "convgrad/graph/op_table.h"

namespace convgrad::test {
namespace {

Page tensor(const std::string& dtype, const std::vector<int>& shape, const std::vector<double>& values) {
  const bool whole = dtype != "double" && dtype != "float";
  Page data = Page::array();
  for (const double value : values) {
    data.push_back(dtype == "bool" ? Page(value != 0) : whole ? Page(static_cast<int>(value)) : Page(value));
  }
  return {{"dtype", dtype}, {"shape", shape}, {"data", data}};
}

Page const_block(const nlohmann::json& block) {
  const std::vector<int> shape = block["shape"];
  const std::string dtype = block["dtype"] == "int" ? "int32" : block["dtype"].get<std::string>();
  if (block["val"].is_object()) return counting(block["id"], shape, dtype);
  return node(block["id"], "Const", {{"value", tensor(dtype, shape, block["val"].get<std::vector<double>>())}});
}

Page op_block(const nlohmann::json& block) {
  Page attrs;
  for (const char* name : {"strides", "padding", "data_format"}) {
    if (block["attrs"].contains(name)) attrs[name] = block["attrs"][name];
  }
  return node(block["id"], block["type"], attrs);
}

}  // namespace

Page counting(const std::string& id, const std::vector<int>& shape, const std::string& dtype) {
  std::vector<double> values(
      static_cast<std::size_t>(std::accumulate(shape.begin(), shape.end(), 1, std::multiplies<>())));
  std::iota(values.begin(), values.end(), 1.0);
  return node(id, "Const", {{"value", tensor(dtype, shape, values)}});
}

Page constant(const std::string& id, const std::string& dtype, const std::vector<double>& values) {
  return node(id, "Const", {{"value", tensor(dtype, {static_cast<int>(values.size())}, values)}});
}

Page node(const std::string& id, const std::string& op, Page attrs) {
  return {{"id", id}, {"op", op}, {"attrs", std::move(attrs)}};
}

Page edge(const std::string& from, const std::string& to, const std::string& pin) {
  return Page::array({Page::array({from, "output"}), Page::array({to, pin})});
}

Page page(const std::vector<Page>& nodes, const std::vector<Page>& edges) {
  return {{"convgrad", 1}, {"nodes", nodes}, {"edges", edges}};
}

Page small_page() {
  return page({counting("x", {1, 3, 3, 1}), counting("w", {2, 2, 1, 1}),
               node("y", "Conv2D", {{"strides", {1, 1, 1, 1}}, {"padding", "VALID"}})},
              {edge("x", "y", "input"), edge("w", "y", "filter")});
}

Page scene_page(const nlohmann::json& scene) {
  std::vector<Page> nodes, edges;
  Page fetch = Page::array();
  for (const nlohmann::json& block : scene["blocks"]) {
    const std::string type = block["type"];
    if (type == "ClientSession") continue;
    if (graph::find_graph_op(type) == nullptr) return {};
    nodes.push_back(type == "Const" ? const_block(block) : op_block(block));
  }
  for (const nlohmann::json& link : scene["links"]) {
    const bool fetched = link["to_pin"] == "fetch_outputs";
    if (fetched) fetch.push_back({link["from"], link["from_pin"]});
    if (!fetched) edges.push_back(edge(link["from"], link["to"], link["to_pin"]));
  }
  Page made = page(nodes, edges);
  made["fetch"] = fetch;
  return made;
}

std::string saved(const std::string& name, const Page& page) {
  write_file(scratch(name), page.dump(1));
  return scratch(name);
}

}  // namespace convgrad::test

#include "studio/pages.h"

#include <numeric>

namespace convgrad::test {

Json constant(const std::string& id, const std::vector<int>& shape, const std::vector<double>& values,
              const std::string& dtype) {
  Json data = Json::array();
  for (const double value : values) data.push_back(dtype == "int32" ? Json(static_cast<int>(value)) : Json(value));
  return node(id, "Const", {{"value", Json{{"dtype", dtype}, {"shape", shape}, {"data", data}}}});
}

Json counting(const std::string& id, const std::vector<int>& shape) {
  const int count = std::accumulate(shape.begin(), shape.end(), 1, std::multiplies<>());
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 1.0);
  return constant(id, shape, values);
}

Json node(const std::string& id, const std::string& op, Json attrs) {
  return {{"id", id}, {"op", op}, {"attrs", std::move(attrs)}};
}

Json edge(const std::string& from, const std::string& to, const std::string& pin, const std::string& output) {
  return Json::array({Json::array({from, output}), Json::array({to, pin})});
}

Json page(const std::vector<Json>& nodes, const std::vector<Json>& edges) {
  return {{"convgrad", 1}, {"nodes", nodes}, {"edges", edges}};
}

Json small_page() {
  return page({counting("x", {1, 3, 3, 1}), counting("w", {2, 2, 1, 1}),
               node("y", "Conv2D", {{"strides", {1, 1, 1, 1}}, {"padding", "VALID"}})},
              {edge("x", "y", "input"), edge("w", "y", "filter")});
}

Json long_page() {
  return page(
      {counting("h", {1, 512, 1, 1}), counting("w", {1, 1, 512, 1}), counting("c", {1, 1, 1, 64}),
       counting("taps", {15, 15, 1, 1}), counting("io", {1, 1, 64, 64}), node("hw", "AddV2"), node("image", "AddV2"),
       node("filter", "AddV2"), node("slow", "Conv2D", {{"strides", {1, 1, 1, 1}}, {"padding", "SAME"}})},
      {edge("h", "hw", "x"), edge("w", "hw", "y"), edge("hw", "image", "x", "z"), edge("c", "image", "y"),
       edge("taps", "filter", "x"), edge("io", "filter", "y"), edge("image", "slow", "input", "z"),
       edge("filter", "slow", "filter", "z")});
}

Json shrinking_page(double rate) {
  return page({constant("start", {}, {8}), constant("rate", {}, {rate}),
               node("weight", "Variable", {{"dtype", "float"}, {"shape", Json::array()}}), node("begin", "Assign"),
               node("gradient", "Identity"), node("learn", "ApplyGradientDescent")},
              {edge("weight", "begin", "ref", "ref"), edge("start", "begin", "value"),
               edge("weight", "gradient", "input", "ref"), edge("weight", "learn", "var", "ref"),
               edge("rate", "learn", "alpha"), edge("gradient", "learn", "delta")});
}

Json body(const Json& page) { return {{"page", page}}; }

}  // namespace convgrad::test

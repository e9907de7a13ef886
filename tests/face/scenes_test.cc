// The six scenes of tests/data/scenes.json, built block by block in a scope.
#include <map>

#include "face/graph_tests.h"
#include "support/cases.h"

namespace convgrad::graph::test {
namespace {

using nlohmann::json;

Tensor value_of(const json& block) {
  const DataType dtype = block.at("dtype") == "int" ? DT_INT32 : DT_FLOAT;
  Tensor tensor(dtype, TensorShape(block.at("shape").get<std::vector<int64>>()));
  const json& val = block.at("val");
  for (int64 i = 0; i < tensor.NumElements(); ++i) {
    const int number = val.is_array() ? val.at(static_cast<std::size_t>(i)).get<int>()
                                      : val.at("start").get<int>() + static_cast<int>(i) * val.at("step").get<int>();
    if (dtype == DT_INT32)
      tensor.flat<int32>()(i) = number;
    else
      tensor.flat<float>()(i) = static_cast<float>(number);
  }
  return tensor;
}

AttrMap attrs_of(const json& block) {
  AttrMap attrs;
  for (const auto& [name, value] : block.at("attrs").items()) {
    if (name.ends_with("_text")) continue;
    if (value.is_array())
      attrs.emplace(name, value.get<std::vector<int64>>());
    else if (value.is_boolean())
      attrs.emplace(name, value.get<bool>());
    else
      attrs.emplace(name, value.get<string>());
  }
  return attrs;
}

// The blocks as nodes; blocks stand before those that read them.
std::map<string, Output> build(const Scope& scope, const json& scene) {
  std::map<string, Output> made;
  for (const json& block : scene.at("blocks")) {
    const string id = block.at("id"), type = block.at("type");
    if (type == "ClientSession") continue;
    if (type == "Const") {
      made[id] = ops::Const(scope.WithOpName(id), value_of(block));
      continue;
    }
    std::vector<Input> inputs;
    for (const PinSpec& pin : find_graph_op(type)->inputs) {
      for (const json& link : scene.at("links")) {
        if (link.at("to") == id && link.at("to_pin") == pin.name) inputs.push_back(made.at(link.at("from")));
      }
    }
    made[id] = Output(scope.WithOpName(id).add(type, inputs, attrs_of(block)), 0);
  }
  return made;
}

TEST(Scenes, give_the_numbers_of_their_pictures) {
  int scenes = 0;
  const json file = convgrad::test::load("scenes.json");
  for (const json& scene : file.at("scenes")) {
    SCOPED_TRACE(scene.at("id").get<string>());
    const Scope root = Scope::NewRootScope();
    std::map<string, Output> nodes = build(root, scene);
    ASSERT_TRUE(root.ok()) << root.status();
    for (const json& expected : scene.at("expected")) {
      const Tensor result = run(root, nodes.at(expected.at("block")));
      EXPECT_EQ(result.dtype(), DT_FLOAT);
      EXPECT_EQ(result.shape(), TensorShape(expected.at("shape").get<std::vector<int64>>()));
      EXPECT_EQ(elements(result), expected.at("values").get<std::vector<double>>());
    }
    ++scenes;
  }
  EXPECT_EQ(scenes, 6);
}

}  // namespace
}  // namespace convgrad::graph::test

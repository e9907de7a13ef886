// Graph files for tests of the commands that take them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace convgrad::test {

using Page = nlohmann::ordered_json;

// {"id": id, "op": "Const", ...} of 1, 2, 3, ... or of these values.
Page counting(const std::string& id, const std::vector<int>& shape, const std::string& dtype = "float");
Page constant(const std::string& id, const std::string& dtype, const std::vector<double>& values);
Page node(const std::string& id, const std::string& op, Page attrs = Page::object());
// An edge to a pin from a node's output.
Page edge(const std::string& from, const std::string& to, const std::string& pin);
Page page(const std::vector<Page>& nodes, const std::vector<Page>& edges);

// y = Conv2D(x, w), x 1..9 as [1,3,3,1] and w 1..4 as [2,2,1,1], VALID: y is 37, 47, 67, 77.
Page small_page();
// A scene of tests/data/scenes.json; empty when it has blocks that are no ops of ours.
Page scene_page(const nlohmann::json& scene);

// Writes it to the scratch folder and answers its path.
std::string saved(const std::string& name, const Page& page);

}  // namespace convgrad::test

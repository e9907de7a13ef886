// Page files: what is written, what is read, what is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "convgrad/graph/page.h"

namespace convgrad::graph {
namespace {

constexpr const char* kScene = R"({
  "convgrad": 1,
  "nodes": [
    {"id": "x", "op": "Const", "attrs": {"value": {"dtype": "float", "shape": [1, 2, 2, 1], "data": [1, 2, 3, 4]}}},
    {"id": "w", "op": "Const", "attrs": {"value": {"dtype": "float", "shape": [1, 1, 1, 1], "data": [0.5]}}},
    {"id": "y", "op": "Conv2D", "name": "half of x", "attrs": {"padding": "SAME", "strides": [1, 1, 1, 1]}}
  ],
  "edges": [
    [["x", "output"], ["y", "input"]],
    [["w", "output"], ["y", "filter"]]
  ],
  "fetch": [
    ["y", "output"]
  ],
  "view": {
    "nodes": {"x": [10, 20.5]},
    "zoom": 1.0
  }
}
)";

TEST(Pages, write_what_they_read_byte_by_byte) {
  const Result<Page> page = parse_page(kScene);
  ASSERT_TRUE(page.ok()) << page.status().message();
  EXPECT_EQ(page->nodes.size(), 3u);
  EXPECT_EQ(page->nodes[2].name, "half of x");
  EXPECT_EQ(std::get<std::vector<int64>>(page->nodes[2].attrs.at("strides")), (std::vector<int64>{1, 1, 1, 1}));
  EXPECT_EQ(page->fetch, (std::vector<PagePin>{{"y", "output"}}));
  EXPECT_EQ(page->view, R"({"nodes": {"x": [10, 20.5]}, "zoom": 1.0})");
  EXPECT_EQ(page_text(*page).value(), kScene);
}

}  // namespace
}  // namespace convgrad::graph

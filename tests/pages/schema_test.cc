// The published schema is the op table's.
#include <nlohmann/json.hpp>

#include "convgrad/graph.h"
#include "pages/pages.h"

namespace convgrad::graph {
namespace {

// To write it anew after a change of the op table: CONVGRAD_WRITE_SCHEMA=1 pages_tests --gtest_filter=PageSchema.*
TEST(PageSchema, stands_in_docs) {
  const string path = CONVGRAD_SOURCE_DIR "/docs/page.schema.json";
  if (std::getenv("CONVGRAD_WRITE_SCHEMA") != nullptr) test::write_bytes(path, page_schema());
  EXPECT_EQ(test::read_bytes(path), page_schema());
}

TEST(PageSchema, has_every_op_with_its_attributes) {
  const nlohmann::json schema = nlohmann::json::parse(page_schema());
  EXPECT_EQ(schema.at("properties").at("convgrad").at("const"), 1);
  for (const OpSpec* op : all_graph_ops()) {
    const auto& attrs = schema.at("$defs").at(op->name).at("properties");
    for (const AttrSpec& attr : op->attrs)
      EXPECT_EQ(attrs.contains(attr.name), !attr.from_inputs) << op->name << attr.name;
  }
  EXPECT_EQ(schema.at("$defs").at("Conv3D").at("properties").at("data_format").at("enum"),
            (std::vector<string>{"NDHWC", "NCDHW"}));
  EXPECT_EQ(schema.at("$defs").at("Conv3D").at("properties").at("dilations").at("default"),
            (std::vector<int>{1, 1, 1, 1, 1}));
}

TEST(OpsJson, is_the_op_table) {
  const nlohmann::json table = nlohmann::json::parse(ops_json());
  const auto& ops = table.at("ops");
  ASSERT_EQ(ops.size(), all_graph_ops().size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const OpSpec& op = *all_graph_ops()[i];
    EXPECT_EQ(ops[i].at("name"), op.name);
    EXPECT_EQ(ops[i].at("inputs").size(), op.inputs.size());
    EXPECT_EQ(ops[i].at("outputs").size(), op.outputs.size());
    EXPECT_EQ(ops[i].at("attrs").size(), op.attrs.size());
    EXPECT_EQ(ops[i].at("gradient"), op.has_gradient);
  }
  EXPECT_EQ(table.at("types").size(), all_data_types().size());
}

}  // namespace
}  // namespace convgrad::graph

// Every graph-* rule that a graph in memory can break, broken on purpose.
#include <set>

#include "convgrad/geometry.h"
#include "face/graph_tests.h"

namespace convgrad::graph::test {
namespace {

struct Refused {
  const char* rule;
  Code code;
  const char* argument;
  const char* text;
  Status (*broken)(const Scope& root);
};

// The status of a scope in which a node was refused.
Status after(const Scope& root, const Node* node) {
  EXPECT_EQ(node, nullptr);
  return root.status();
}

const Refused kTable[] = {
    {"graph-attr", error::INVALID_ARGUMENT, "padding",
     "Value for attr 'padding' of \"FULL\" is not in the list of allowed values: \"SAME\", \"VALID\", \"EXPLICIT\"",
     [](const Scope& root) { return after(root, ops::Conv2D(root, 1.f, 1.f, {1, 1, 1, 1}, "FULL").node()); }},
    {"graph-attr", error::INVALID_ARGUMENT, "data_format", "\"NDHWC\", \"NCDHW\"",
     [](const Scope& root) {
       return after(root, ops::Conv3D(root, 1.f, 1.f, {1, 1, 1, 1, 1}, "SAME", ops::Conv3D::DataFormat("NHWC")).node());
     }},
    {"graph-attr", error::INVALID_ARGUMENT, "stride", "there is no attr 'stride'",
     [](const Scope& root) { return after(root, root.add("Identity", {1.f}, {{"stride", int64{1}}})); }},
    {"graph-attr", error::INVALID_ARGUMENT, "padding", "attr 'padding' is missing",
     [](const Scope& root) {
       return after(root, root.add("Conv2D", {1.f, 1.f}, {{"strides", std::vector<int64>{1, 1, 1, 1}}}));
     }},
    {"graph-input", error::INVALID_ARGUMENT, "y", "the number of inputs is wrong",
     [](const Scope& root) { return after(root, root.add("Add", {1.f})); }},
    {"graph-input", error::INVALID_ARGUMENT, "inputs", "an input is no output of a node",
     [](const Scope& root) { return after(root, ops::Identity(root, NoGradient()).node()); }},
    {"graph-shape", error::INVALID_ARGUMENT, "y", "Incompatible shapes: [2] vs. [3]",
     [](const Scope& root) { return after(root, ops::Add(root, {1, 2}, {1, 2, 3}).node()); }},
    {"graph-name", error::INVALID_ARGUMENT, "name", "there is a node of that name",
     [](const Scope& root) {
       ops::Const(root.NewSubScope("c").WithOpName("x"), 1);
       return after(root, ops::Const(root.WithOpName("c/x"), 1).node());
     }},
    {"graph-feed", error::INVALID_ARGUMENT, "p", "You must feed a value for placeholder tensor 'p' with dtype double",
     [](const Scope& root) {
       return ClientSession(root).Run({ops::Placeholder(root.WithOpName("p"), DT_DOUBLE)}, nullptr);
     }},
    {"graph-feed", error::INVALID_ARGUMENT, "p", "the tensor fed to 'p:0' has another type or shape",
     [](const Scope& root) {
       const auto p = ops::Placeholder(root.WithOpName("p"), DT_DOUBLE);
       return ClientSession(root).Run({{p, 1.f}}, {p}, nullptr);
     }},
    {"graph-fetch", error::NOT_FOUND, "fetched", "is no output of this session's graph",
     [](const Scope& root) { return ClientSession(root).Run({NoGradient()}, nullptr); }},
    {"graph-fetch", error::INVALID_ARGUMENT, "fetch_outputs", "Must specify at least one target to fetch or execute.",
     [](const Scope& root) { return ClientSession(root).Run({}, nullptr); }},
    {"graph-variable", error::FAILED_PRECONDITION, "v", "Attempting to use uninitialized value v",
     [](const Scope& root) {
       return ClientSession(root).Run({ops::Variable(root.WithOpName("v"), {2}, DT_FLOAT)}, nullptr);
     }},
    {"graph-variable", error::FAILED_PRECONDITION, "ref", "input 'ref' must be a variable",
     [](const Scope& root) { return after(root, ops::Assign(root, 1.f, 1.f).node()); }},
    {"graph-gradient", error::INVALID_ARGUMENT, "grad_inputs", "Must specify a gradient input for each output.",
     [](const Scope& root) {
       const auto x = ops::Const(root, 1.f);
       std::vector<Output> dxs;
       return AddSymbolicGradients(root, {x}, {x}, {}, &dxs);
     }},
    {"dtype", error::INVALID_ARGUMENT, "T",
     "Value for attr 'T' of int16 is not in the list of allowed values: half, bfloat16, float, double, int32",
     [](const Scope& root) {
       const Tensor t(DT_INT16, {1, 1, 1, 1});
       return after(root, ops::Conv2D(root, t, t, {1, 1, 1, 1}, "SAME").node());
     }},
    {"out-shape-mismatch", error::INVALID_ARGUMENT, "out_backprop",
     "Conv2DBackpropFilter: Size of out_backprop doesn't match computed: actual = 3, computed = 2",
     [](const Scope& root) {
       return after(root, ops::Conv2DBackpropFilter(root, Tensor(DT_FLOAT, {1, 4, 4, 1}), {3, 3, 1, 1},
                                                    Tensor(DT_FLOAT, {1, 3, 3, 1}), {1, 2, 2, 1}, "SAME")
                              .node());
     }},
};

TEST(GraphRefusals, say_rule_code_argument_and_text) {
  for (const Refused& row : kTable) {
    const Status status = row.broken(Scope::NewRootScope());
    EXPECT_EQ(status.core().rule(), row.rule) << status;
    EXPECT_EQ(status.code(), row.code) << status;
    EXPECT_EQ(status.core().argument(), row.argument) << status;
    EXPECT_TRUE(has(status, row.text));
  }
}

TEST(GraphRefusals, cover_every_rule_of_graphs_in_memory) {
  std::set<std::string_view> broken;
  for (const Refused& row : kTable) broken.insert(row.rule);
  for (const RuleInfo& rule : all_rules()) {
    if (!rule.id.starts_with("graph-")) continue;
    if (rule.id == "graph-cycle" || rule.id == "graph-file") continue;  // only a file can break these
    EXPECT_TRUE(broken.contains(rule.id)) << rule.id << " has no test";
  }
}

// What is known when a graph is built is refused then; fed later, the same mistake has the same words.
TEST(GraphRefusals, are_the_same_at_build_and_at_run) {
  const Tensor x(DT_FLOAT, {1, 4, 4, 1}), dy(DT_FLOAT, {1, 3, 3, 1});
  const Scope known = Scope::NewRootScope(), fed = Scope::NewRootScope();
  ops::Conv2DBackpropFilter(known.WithOpName("dw"), x, {3, 3, 1, 1}, dy, {1, 2, 2, 1}, "SAME");
  const auto p = ops::Placeholder(fed, DT_FLOAT);
  const auto dw = ops::Conv2DBackpropFilter(fed.WithOpName("dw"), x, {3, 3, 1, 1}, p, {1, 2, 2, 1}, "SAME");
  ASSERT_FALSE(known.ok());
  ASSERT_TRUE(fed.ok());
  EXPECT_EQ(ClientSession(fed).Run({{p, dy}}, {dw}, nullptr), known.status());
}

}  // namespace
}  // namespace convgrad::graph::test

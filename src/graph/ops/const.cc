#include "graph/row.h"

namespace convgrad::graph {
namespace {

// The types that constants may have: all that tensors hold.
std::vector<DataType> stored_types() {
  std::vector<DataType> types;
  for (const DataTypeInfo& row : all_data_types()) types.push_back(row.dtype);
  return types;
}

Result<Inferred> infer(const NodeView& node) {
  const Tensor& value = node.attr<Tensor>("value");
  if (value.dtype() != node.type("dtype") || !value.IsInitialized())
    return node.refuse({.rule = Rule::dtype,
                        .argument = "value",
                        .reason = "the value has not the type of attr 'dtype', or no memory",
                        .got = DataTypeString(value.dtype()),
                        .wanted = DataTypeString(node.type("dtype"))});
  return Inferred{{value.shape()}, value};
}

Result<std::vector<Tensor>> run(const NodeRun& run) { return std::vector<Tensor>{run.node.attr<Tensor>("value")}; }

}  // namespace

OpRow Const_row() {
  return {.spec = {.name = "Const",
                   .group = "Core",
                   .doc = "A tensor that does not change.",
                   .inputs = {},
                   .outputs = {{"output", "dtype", "The value."}},
                   .attrs = {{.name = "value", .kind = AttrKind::tensor, .doc = "The elements."},
                             type("dtype", "Their type.", stored_types())}},
          .infer = infer,
          .run = run};
}

}  // namespace convgrad::graph

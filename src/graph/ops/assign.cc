#include "graph/ops/shapes.h"

namespace convgrad::graph {
namespace {

Result<Inferred> infer(const NodeView& node) {
  const PartialTensorShape &ref = node.inputs[0].shape, &value = node.inputs[1].shape;
  if (!node.flag("validate_shape")) return Inferred{{value}};
  if (!ref.IsCompatibleWith(value))
    return node.refuse({.rule = Rule::graph_shape,
                        .argument = "value",
                        .reason = concat("Assign requires shapes of both tensors to match. lhs shape= ",
                                         ref.DebugString(), " rhs shape= ", value.DebugString()),
                        .got = value.DebugString(),
                        .wanted = ref.DebugString()});
  return Inferred{{*merge(node, ref, 1)}};
}

// A copy: what is fed belongs to the caller.
Result<std::vector<Tensor>> run(const NodeRun& run) {
  Tensor value = run.inputs[1].deep_copy();
  if (!value.IsInitialized()) return convgrad::Status::out_of_memory();
  run.variables.write(run.variable(), value);
  return std::vector<Tensor>{std::move(value)};
}

}  // namespace

OpRow Assign_row() {
  return {.spec = {.name = "Assign",
                   .group = "Training",
                   .doc = "Gives a variable a value.",
                   .inputs = {{.name = "ref", .type = "T", .doc = "The variable.", .variable = true},
                              {"value", "T", "Its new value."}},
                   .outputs = {{"output_ref", "T", "The value."}},
                   .attrs = {flag("validate_shape", "The value must have the variable's shape.", true),
                             flag("use_locking", "Taken and not used: every write is whole.", true),
                             type_of_inputs("T", number_types())},
                   .stateful = true},
          .infer = infer,
          .run = run};
}

}  // namespace convgrad::graph

#include "graph/row.h"

namespace convgrad::graph {
namespace {

Result<Inferred> infer(const NodeView& node) { return Inferred{{node.attr<PartialTensorShape>("shape")}}; }

// Only reached when nothing was fed.
Result<std::vector<Tensor>> run(const NodeRun& run) {
  const PartialTensorShape& shape = run.node.attr<PartialTensorShape>("shape");
  const string dtype = DataTypeString(run.node.type("dtype"));
  return run.node.refuse(
      {.rule = Rule::graph_feed,
       .argument = run.self.name(),
       .reason = concat("You must feed a value for placeholder tensor '", run.self.name(), "' with dtype ", dtype,
                        shape.unknown_rank() ? "" : concat(" and shape ", shape.DebugString())),
       .got = "nothing",
       .wanted = concat(dtype, shape.DebugString())});
}

}  // namespace

OpRow Placeholder_row() {
  return {.spec = {.name = "Placeholder",
                   .group = "Core",
                   .doc = "A tensor that every run is fed.",
                   .inputs = {},
                   .outputs = {{"output", "dtype", "What is fed."}},
                   .attrs = {type("dtype", "Element type.", number_types()),
                             {.name = "shape",
                              .kind = AttrKind::shape,
                              .doc = "Shape, as far as it is known; -1 for a size that is not.",
                              .fallback = PartialTensorShape()}}},
          .infer = infer,
          .run = run};
}

}  // namespace convgrad::graph

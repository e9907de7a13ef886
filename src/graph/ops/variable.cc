#include "graph/row.h"

namespace convgrad::graph {
namespace {

Result<Inferred> infer(const NodeView& node) { return Inferred{{node.attr<PartialTensorShape>("shape")}}; }

// Its value is the session's, and read when it is used.
Result<std::vector<Tensor>> run(const NodeRun&) { return std::vector<Tensor>{}; }

}  // namespace

OpRow Variable_row() {
  return {
      .spec = {.name = "Variable",
               .group = "Training",
               .doc = "A tensor that a session keeps from run to run.",
               .inputs = {},
               .outputs =
                   {{.name = "ref", .type = "dtype", .doc = "Its value; refused before an Assign.", .variable = true}},
               .attrs = {{.name = "shape", .kind = AttrKind::shape, .doc = "Shape of its values."},
                         type("dtype", "Element type.", number_types())},
               .stateful = true},
      .infer = infer,
      .run = run};
}

}  // namespace convgrad::graph

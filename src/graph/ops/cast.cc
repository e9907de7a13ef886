#include "graph/convert.h"
#include "graph/ops/shapes.h"

namespace convgrad::graph {
namespace {

bool is_integer(DataType dtype) { return dtype == DT_INT32 || dtype == DT_INT64; }

// A value that is known stays known: sizes are cast from one integer type to the other.
Result<Inferred> infer(const NodeView& node) {
  Inferred inferred{{node.inputs[0].shape}};
  if (!node.inputs[0].value || !is_integer(node.type("SrcT")) || !is_integer(node.type("DstT"))) return inferred;
  Result<Tensor> value = convert(*node.inputs[0].value, node.type("DstT"));
  if (!value.ok()) return value.status();
  inferred.value = std::move(*value);
  return inferred;
}

Result<std::vector<Tensor>> run(const NodeRun& run) {
  Result<Tensor> y = convert(run.inputs[0], run.node.type("DstT"));
  if (!y.ok()) return y.status();
  return std::vector<Tensor>{std::move(*y)};
}

// Rounding to integers is flat.
std::vector<Output> gradient(const NodeGradient& g) {
  const DataType from = g.node.input_type(0);
  if (is_integer(from) || is_integer(g.node.output_type(0))) return {NoGradient()};
  return {g.op("Cast", {g.dy[0]}, {{"DstT", from}})};
}

}  // namespace

OpRow Cast_row() {
  return {.spec = {.name = "Cast",
                   .group = "Core",
                   .doc = "The elements in another type: rounded to nearest, to integers towards zero.",
                   .inputs = {{"x", "SrcT", "Any tensor."}},
                   .outputs = {{"y", "DstT", "The same shape."}},
                   .attrs = {type("DstT", "The type wanted.", number_types()), type_of_inputs("SrcT", number_types())}},
          .infer = infer,
          .run = run,
          .gradient = gradient};
}

}  // namespace convgrad::graph

#include "graph/ops/shapes.h"

namespace convgrad::graph {
namespace {

convgrad::Status refuse_shape(const NodeView& node, string reason, const Shape& wanted, string what) {
  return node.refuse({.rule = Rule::graph_shape,
                      .argument = "shape",
                      .reason = std::move(reason),
                      .got = convgrad::to_text(wanted),
                      .wanted = std::move(what)});
}

// Where the one -1 stands, if there is one.
Result<std::optional<std::size_t>> free_size(const NodeView& node, const Shape& wanted) {
  std::optional<std::size_t> found;
  for (std::size_t d = 0; d < wanted.size(); ++d) {
    if (wanted[d] >= 0) continue;
    if (wanted[d] < -1)
      return refuse_shape(node, concat("Size ", d, " must be non-negative, not ", wanted[d]), wanted,
                          "sizes, or one -1");
    if (found)
      return refuse_shape(node, concat("Only one input size may be -1, not both ", *found, " and ", d), wanted,
                          "one -1 at most");
    found = d;
  }
  return found;
}

// The wanted sizes for this many elements, -1 replaced by what is left for it.
Result<Shape> fitted(const NodeView& node, int64 elements, Shape wanted, std::optional<std::size_t> free) {
  Shape rest = wanted;
  if (free) rest[*free] = 1;
  const Result<int64> given = element_count(rest);
  if (!given.ok()) return refuse_shape(node, "the shape has more than 2**63 - 1 elements", wanted, "fewer");
  if (free && *given == 0)
    return refuse_shape(node,
                        "reshape cannot infer the missing input size unless all specified input sizes are non-zero",
                        wanted, "no 0 beside -1");
  if (free ? elements % *given != 0 : elements != *given)
    return refuse_shape(node,
                        concat("Input to reshape is a tensor with ", elements, " values, but the requested shape ",
                               free ? "requires a multiple of " : "has ", *given),
                        wanted, concat("sizes of ", elements, " elements"));
  if (free) wanted[*free] = elements / *given;
  return wanted;
}

Result<Inferred> infer(const NodeView& node) {
  CONVGRAD_RETURN_IF_ERROR(want_vector(node, 1));
  const std::optional<std::vector<int64>> wanted = known_integers(node.inputs[1]);
  if (!wanted) {
    const int64 rank = node.inputs[1].shape.dim_size(0);
    return Inferred{{rank < 0 ? PartialTensorShape() : PartialTensorShape(Shape(static_cast<std::size_t>(rank), -1))}};
  }
  const Result<std::optional<std::size_t>> free = free_size(node, *wanted);
  if (!free.ok()) return free.status();
  TensorShape known;
  if (!node.inputs[0].shape.AsTensorShape(&known)) return Inferred{{PartialTensorShape(*wanted)}};
  Result<Shape> shape = fitted(node, known.num_elements(), *wanted, *free);
  if (!shape.ok()) return shape.status();
  return Inferred{{PartialTensorShape(*shape)}};
}

Result<std::vector<Tensor>> run(const NodeRun& run) { return reshaped(run.inputs[0], run.shapes[0]); }

std::vector<Output> gradient(const NodeGradient& g) {
  return {g.op("Reshape", {g.dy[0], g.op("Shape", {g.x(0)})}), NoGradient()};
}

}  // namespace

OpRow Reshape_row() {
  return {.spec = {.name = "Reshape",
                   .group = "Core",
                   .doc = "The same elements in the same order, in another shape.",
                   .inputs = {{"tensor", "T", "Any tensor."},
                              {"shape", "Tshape", "Its new sizes; one may be -1 and is what the others leave."}},
                   .outputs = {{"output", "T", "The new shape."}},
                   .attrs = {type_of_inputs("T", number_types()), type_of_inputs("Tshape", {DT_INT32, DT_INT64})}},
          .infer = infer,
          .run = run,
          .gradient = gradient};
}

}  // namespace convgrad::graph

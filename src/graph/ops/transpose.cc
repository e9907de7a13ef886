#include "graph/ops/transpose.h"

#include "graph/ops/strided.h"

namespace convgrad::graph {
namespace {

Result<Inferred> infer(const NodeView& node) {
  const PartialTensorShape& shape = node.inputs[0].shape;
  CONVGRAD_RETURN_IF_ERROR(want_permutation(node, 1, shape.dims()));
  const std::optional<std::vector<int64>> perm = known_integers(node.inputs[1]);
  const int64 rank = shape.unknown_rank() ? node.inputs[1].shape.dim_size(0) : shape.dims();
  if (rank < 0) return Inferred{{PartialTensorShape()}};
  Shape sizes(static_cast<std::size_t>(rank), -1);
  for (std::size_t d = 0; perm && d < sizes.size(); ++d) sizes[d] = shape.dim_size(static_cast<int>((*perm)[d]));
  return Inferred{{PartialTensorShape(sizes)}};
}

Result<std::vector<Tensor>> run(const NodeRun& run) {
  Result<Tensor> y = transposed(run.inputs[0], *known_integers(run.node.inputs[1]));
  if (!y.ok()) return y.status();
  return std::vector<Tensor>{std::move(*y)};
}

std::vector<Output> gradient(const NodeGradient& g) {
  return {g.op("Transpose", {g.dy[0], g.op("InvertPermutation", {g.x(1)})}), NoGradient()};
}

}  // namespace

convgrad::Status want_permutation(const NodeView& node, std::size_t input, int rank) {
  CONVGRAD_RETURN_IF_ERROR(want_vector(node, input));
  const string& argument = node.op.inputs[input].name;
  const int64 length = node.inputs[input].shape.dim_size(0);
  if (rank >= 0 && length >= 0 && length != rank)
    return node.refuse(
        {.rule = Rule::graph_shape,
         .argument = argument,
         .reason = concat("transpose expects a vector of size ", rank, ". But input(1) is a vector of size ", length),
         .got = concat(length, " entries"),
         .wanted = concat(rank, " entries")});
  const std::optional<std::vector<int64>> perm = known_integers(node.inputs[input]);
  if (!perm) return {};
  std::vector<bool> seen(perm->size(), false);
  for (int64 entry : *perm) {
    const bool inside = entry >= 0 && entry < length;
    if (inside && !seen[static_cast<std::size_t>(entry)]) {
      seen[static_cast<std::size_t>(entry)] = true;
      continue;
    }
    return node.refuse({.rule = Rule::graph_shape,
                        .argument = argument,
                        .reason = concat(entry, inside ? " is duplicated in the permutation" : " is out of range"),
                        .got = convgrad::to_text(*perm),
                        .wanted = concat("every number from 0 to below ", length, " once")});
  }
  return {};
}

Result<Tensor> transposed(const Tensor& x, const std::vector<int64>& perm) {
  const Shape& from = x.shape().dim_sizes();
  const std::vector<int64> own = contiguous_strides(from);
  Shape shape;
  std::vector<int64> strides;
  for (int64 d : perm) {
    shape.push_back(from[static_cast<std::size_t>(d)]);
    strides.push_back(own[static_cast<std::size_t>(d)]);
  }
  return gathered(x, strides, shape);
}

OpRow Transpose_row() {
  return {.spec = {.name = "Transpose",
                   .group = "Core",
                   .doc = "Changes the order of the dimensions.",
                   .inputs = {{"x", "T", "Any tensor."},
                              {"perm", "Tperm", "For each dimension of the result, which one of x it is."}},
                   .outputs = {{"y", "T", "Sizes in the new order."}},
                   .attrs = {type_of_inputs("T", number_types()), type_of_inputs("Tperm", {DT_INT32, DT_INT64})}},
          .infer = infer,
          .run = run,
          .gradient = gradient};
}

}  // namespace convgrad::graph

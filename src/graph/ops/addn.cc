#include "graph/ops/elementwise.h"

namespace convgrad::graph {
namespace {

Result<Inferred> infer(const NodeView& node) {
  Result<PartialTensorShape> shape = merged(node, 0, node.inputs.size());
  if (!shape.ok()) return shape.status();
  return Inferred{{*shape}};
}

// In the order of the inputs, each sum kept in the type that elements are computed in.
Result<std::vector<Tensor>> run(const NodeRun& run) {
  Result<Tensor> sum = Tensor::make(run.inputs[0].dtype(), run.shapes[0]);
  if (!sum.ok()) return sum.status();
  visit(sum->dtype(), [&]<class T>(T) {
    for (int64 i = 0; i < sum->NumElements(); ++i) {
      using W = std::conditional_t<std::is_integral_v<T>, std::uint64_t, Wide<T>>;
      W total{};
      for (const Tensor& input : run.inputs) total += static_cast<W>(widen(static_cast<const T*>(input.data())[i]));
      if constexpr (std::is_integral_v<T>)
        static_cast<T*>(sum->data())[i] = static_cast<T>(total);
      else
        static_cast<T*>(sum->data())[i] = narrow<T>(total);
    }
  });
  return std::vector<Tensor>{std::move(*sum)};
}

std::vector<Output> gradient(const NodeGradient& g) {
  return std::vector<Output>(static_cast<std::size_t>(g.node.num_inputs()), g.dy[0]);
}

}  // namespace

OpRow AddN_row() {
  return {.spec = {.name = "AddN",
                   .group = "Math",
                   .doc = "The sum of one or more tensors of one shape.",
                   .inputs = {{"inputs", "T", "The terms.", true}},
                   .outputs = {{"sum", "T", "Their sum."}},
                   .attrs = {type_of_inputs("T", number_types())}},
          .infer = infer,
          .run = run,
          .gradient = gradient};
}

}  // namespace convgrad::graph

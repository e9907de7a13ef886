#include "graph/ops/total.h"
#include "graph/row.h"

namespace convgrad::graph {
namespace {

Result<Inferred> infer(const NodeView&) { return Inferred{{PartialTensorShape(TensorShape{})}}; }

Result<std::vector<Tensor>> run(const NodeRun& run) {
  const Tensor& t = run.inputs[0];
  Result<Tensor> loss = Tensor::make(t.dtype(), {});
  if (!loss.ok()) return loss.status();
  visit(t.dtype(), [&]<class T>(T) {
    Total<T> total;
    const T* element = static_cast<const T*>(t.data());
    for (int64 i = 0; i < t.NumElements(); ++i) {
      const auto term = Total<T>::term(element[i]);
      total.add(term * term);
    }
    *static_cast<T*>(loss->data()) = total.over(2);
  });
  return std::vector<Tensor>{std::move(*loss)};
}

std::vector<Output> gradient(const NodeGradient& g) { return {g.op("Mul", {g.x(0), g.dy[0]})}; }

}  // namespace

OpRow L2Loss_row() {
  return {.spec = {.name = "L2Loss",
                   .group = "Math",
                   .doc = "Half the sum of the squares of all elements.",
                   .inputs = {{"t", "T", "Any tensor."}},
                   .outputs = {{"output", "T", "sum(t * t) / 2."}},
                   .attrs = {type_of_inputs("T", floating_types())}},
          .infer = infer,
          .run = run,
          .gradient = gradient};
}

}  // namespace convgrad::graph

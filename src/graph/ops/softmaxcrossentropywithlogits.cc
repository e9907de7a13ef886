#include "graph/ops/softmax.h"

namespace convgrad::graph {
namespace {

Result<Inferred> infer(const NodeView& node) {
  CONVGRAD_RETURN_IF_ERROR(want_rank(node, 0, 2));
  CONVGRAD_RETURN_IF_ERROR(want_rank(node, 1, 2));
  Result<PartialTensorShape> shape = merged(node, 0, 2);
  if (!shape.ok()) return shape.status();
  return Inferred{
      {PartialTensorShape({shape->dim_size(0)}), shape->unknown_rank() ? PartialTensorShape({-1, -1}) : *shape}};
}

// loss = -sum of labels * log(softmax), backprop = softmax - labels.
Result<std::vector<Tensor>> run(const NodeRun& run) {
  const Tensor &x = run.inputs[0], &labels = run.inputs[1];
  Result<Tensor> loss = Tensor::make(x.dtype(), run.shapes[0]), backprop = Tensor::make(x.dtype(), run.shapes[1]);
  if (!loss.ok()) return loss.status();
  if (!backprop.ok()) return backprop.status();
  const int64 classes = run.shapes[1][1];
  each_last_row(x, [&]<class T>(T, int64 first) {
    const T *from = static_cast<const T*>(x.data()) + first, *label = static_cast<const T*>(labels.data()) + first;
    T* to = static_cast<T*>(backprop->data()) + first;
    const RowScale scale = scale_of(from, classes);
    Total<T> total;
    for (int64 i = 0; i < classes; ++i) {
      const double part = Total<T>::term(label[i]), logit = Total<T>::term(from[i]) - scale.largest;
      total.add(part * (scale.log_sum - logit));
      to[i] = narrow<T>(std::exp(logit) / scale.sum - part);
    }
    static_cast<T*>(loss->data())[first / classes] = total.over(1);
  });
  return std::vector<Tensor>{std::move(*loss), std::move(*backprop)};
}

// With s = softmax(features), row by row:
//   of the loss:  dfeatures = dloss * (s * sum(labels) - labels)    dlabels = -dloss * log(s)
//   of backprop:  dfeatures = (db - sum(db * s)) * s                dlabels = -db
// The sum of the labels is 1 where they are probabilities; without it, others would get a wrong gradient.
struct Terms {
  std::vector<Output> features, labels;
};

void of_loss(const NodeGradient& g, const Output& softmax, Terms& terms) {
  const Output dloss = g.op("Reshape", {g.dy[0], Input({-1, 1})});
  const Output slope = g.op("Sub", {g.op("Mul", {softmax, sum_of_rows(g, g.x(1))}), g.x(1)});
  terms.features.push_back(g.op("Mul", {dloss, slope}));
  terms.labels.push_back(g.op("Neg", {g.op("Mul", {dloss, g.op("LogSoftmax", {g.x(0)})})}));
}

void of_backprop(const NodeGradient& g, const Output& softmax, Terms& terms) {
  const Output mean = sum_of_rows(g, g.op("Mul", {g.dy[1], softmax}));
  terms.features.push_back(g.op("Mul", {g.op("Sub", {g.dy[1], mean}), softmax}));
  terms.labels.push_back(g.op("Neg", {g.dy[1]}));
}

std::vector<Output> gradient(const NodeGradient& g) {
  const Output softmax = g.op("Softmax", {g.x(0)});
  Terms terms;
  if (g.dy[0].node() != nullptr) of_loss(g, softmax, terms);
  if (g.dy[1].node() != nullptr) of_backprop(g, softmax, terms);
  const auto sum = [&](const std::vector<Output>& of) {
    return of.size() == 1 ? of.front() : g.op("AddN", {of.begin(), of.end()});
  };
  return {sum(terms.features), sum(terms.labels)};
}

}  // namespace

OpRow SoftmaxCrossEntropyWithLogits_row() {
  return {.spec = {.name = "SoftmaxCrossEntropyWithLogits",
                   .group = "Neural network",
                   .doc = "How far softmax(features) is from the labels, and the gradient of that.",
                   .inputs = {{"features", "T", "[batch, classes]."},
                              {"labels", "T", "The same shape; each row sums to 1."}},
                   .outputs = {{"loss", "T", "[batch]: -sum of labels * log(softmax(features))."},
                               {"backprop", "T", "[batch, classes]: softmax(features) - labels."}},
                   .attrs = {type_of_inputs("T", floating_types())}},
          .infer = infer,
          .run = run,
          .gradient = gradient};
}

}  // namespace convgrad::graph

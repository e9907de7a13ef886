#include "graph/ops/elementwise.h"
#include "graph/ops/maxpool.h"
#include "graph/ops/total.h"

namespace convgrad::graph {
namespace {

// Where the largest element of a window's cells stands in a sample, of the lane that `sample` points to.
template <class T>
int64 largest(const T* sample, const std::vector<int64>& cells, int64 lanes) {
  int64 best = cells.front() * lanes;
  for (int64 cell : cells) {
    const auto value = widen(sample[cell * lanes]), leader = widen(sample[best]);
    if (is_nan(leader)) break;
    if (value > leader || is_nan(value)) best = cell * lanes;
  }
  return best;
}

// Calls f(T{}, in, out) for every window and lane: the elements of input and output that belong together, by flat
// index.
template <class F>
void each_largest(const Tensor& input, const Geometry& geometry, F f) {
  const auto [samples, lanes] = lanes_of(geometry);
  const int64 in_block = positions(geometry.in) * lanes, out_block = positions(geometry.out) * lanes;
  visit(input.dtype(), [&]<class T>(T) {
    const T* from = static_cast<const T*>(input.data());
    each_window(geometry, [&](int64 position, const std::vector<int64>& cells) {
      for (int64 sample = 0; sample < samples; ++sample) {
        for (int64 lane = 0; lane < lanes; ++lane) {
          const int64 start = sample * in_block + lane;
          f(T{}, start + largest(from + start, cells, lanes), sample * out_block + position * lanes + lane);
        }
      }
    });
  });
}

template <int rank>
Geometry geometry_of(const NodeRun& run) {
  return pooled(run.node, rank, run.inputs[0].shape(), run.node.op.inputs[0].name)->geometry;
}

// output[o] = from[largest of o]: MaxPool of the input itself, its second gradient of another tensor of that shape.
Result<std::vector<Tensor>> take_largest(const NodeRun& run, const Tensor& from, const Geometry& geometry) {
  Result<Tensor> output = Tensor::make(from.dtype(), run.shapes[0]);
  if (!output.ok()) return output.status();
  each_largest(run.inputs[0], geometry, [&]<class T>(T, int64 in, int64 out) {
    static_cast<T*>(output->data())[out] = static_cast<const T*>(from.data())[in];
  });
  return std::vector<Tensor>{std::move(*output)};
}

template <int rank>
Result<std::vector<Tensor>> run(const NodeRun& run) {
  return take_largest(run, run.inputs[0], geometry_of<rank>(run));
}

template <int rank>
constexpr const char* kName = rank == 2 ? "MaxPool" : "MaxPool3D";

template <int rank>
std::vector<Output> gradient(const NodeGradient& g) {
  return {g.op(concat(kName<rank>, "Grad"), {g.x(0), g.y(), g.dy[0]}, pool_attrs(g))};
}

// orig_input, orig_output and a gradient that has the shape of the output, or of the input for the second gradient.
template <int rank, bool second>
Result<Inferred> infer_grad(const NodeView& node) {
  const Result<Pooled> pool = pooled(node, rank, node.inputs[0].shape, node.op.inputs[0].name);
  if (!pool.ok()) return pool.status();
  Result<PartialTensorShape> output = merge(node, pool->output, 1), input = pool->input;
  if (!output.ok()) return output.status();
  Result<PartialTensorShape>& given = second ? input : output;
  given = merge(node, *given, 2);
  if (!given.ok()) return given.status();
  return Inferred{{second ? *output : *input}};
}

template <int rank>
Result<std::vector<Tensor>> run_grad(const NodeRun& run) {
  const Tensor &input = run.inputs[0], &dy = run.inputs[2];
  Result<Tensor> dx = Tensor::make(input.dtype(), run.shapes[0]);
  if (!dx.ok()) return dx.status();
  const Geometry geometry = geometry_of<rank>(run);
  visit(input.dtype(), [&]<class T>(T) {
    std::vector<Total<T>> totals(static_cast<std::size_t>(dx->NumElements()));
    each_largest(input, geometry, [&]<class U>(U, int64 in, int64 out) {
      totals[static_cast<std::size_t>(in)].add(Total<T>::term(static_cast<const T*>(dy.data())[out]));
    });
    T* to = static_cast<T*>(dx->data());
    for (const Total<T>& total : totals) *to++ = total.over(1);
  });
  return std::vector<Tensor>{std::move(*dx)};
}

template <int rank>
Result<std::vector<Tensor>> run_grad_grad(const NodeRun& run) {
  return take_largest(run, run.inputs[2], geometry_of<rank>(run));
}

// Both gradients are linear in the last input, and flat in the others.
template <int rank, bool second>
std::vector<Output> gradient_grad(const NodeGradient& g) {
  const string name = concat(kName<rank>, second ? "Grad" : "GradGrad");
  return {g.op("ZerosLike", {g.x(0)}), NoGradient(), g.op(name, {g.x(0), g.x(1), g.dy[0]}, pool_attrs(g))};
}

std::vector<PinSpec> grad_pins(string doc) {
  return {{"orig_input", "T", "The pooling's input."},
          {"orig_output", "T", "Its output; only its shape is used."},
          {"grad", "T", std::move(doc)}};
}

template <int rank>
OpRow row() {
  return {.spec = pool_spec(rank, {kName<rank>, "input", "The largest element of every window."}, number_types()),
          .infer = infer_pool<rank>,
          .run = run<rank>,
          .gradient = gradient<rank>};
}

template <int rank>
OpRow grad_row() {
  return {.spec = {.name = concat(kName<rank>, "Grad"),
                   .group = pool_group(rank),
                   .doc = concat("Gradient of ", kName<rank>, ": each goes to the largest element of its window."),
                   .inputs = grad_pins("Gradient with respect to the output."),
                   .outputs = {{"output", "T", "Gradient with respect to the input."}},
                   .attrs = pool_attrs(rank, number_types())},
          .infer = infer_grad<rank, false>,
          .run = run_grad<rank>,
          .gradient = gradient_grad<rank, false>};
}

template <int rank>
OpRow grad_grad_row() {
  return {.spec = {.name = concat(kName<rank>, "GradGrad"),
                   .group = pool_group(rank),
                   .doc = concat("Second gradient of ", kName<rank>, ": what stands where each window is largest."),
                   .inputs = grad_pins("Gradient of gradients, in the shape of the input."),
                   .outputs = {{"output", "T", "The shape of the output."}},
                   .attrs = pool_attrs(rank, number_types())},
          .infer = infer_grad<rank, true>,
          .run = run_grad_grad<rank>,
          .gradient = gradient_grad<rank, true>};
}

}  // namespace

OpRow max_pool_row(int rank) { return rank == 2 ? row<2>() : row<3>(); }
OpRow max_pool_grad_row(int rank) { return rank == 2 ? grad_row<2>() : grad_row<3>(); }
OpRow max_pool_grad_grad_row(int rank) { return rank == 2 ? grad_grad_row<2>() : grad_grad_row<3>(); }

}  // namespace convgrad::graph

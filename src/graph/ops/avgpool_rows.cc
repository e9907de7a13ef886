#include "graph/ops/avgpool.h"
#include "graph/ops/total.h"

namespace convgrad::graph {
namespace {

template <int rank>
Result<std::vector<Tensor>> run(const NodeRun& run) {
  const Tensor& input = run.inputs[0];
  Result<Tensor> output = Tensor::make(input.dtype(), run.shapes[0]);
  if (!output.ok()) return output.status();
  const Geometry geometry = pooled(run.node, rank, input.shape(), run.node.op.inputs[0].name)->geometry;
  const auto [samples, lanes] = lanes_of(geometry);
  const int64 in_block = positions(geometry.in) * lanes, out_block = positions(geometry.out) * lanes;
  visit(input.dtype(), [&]<class T>(T) {
    each_window(geometry, [&](int64 position, const std::vector<int64>& cells) {
      for (int64 sample = 0; sample < samples; ++sample) {
        const T* from = static_cast<const T*>(input.data()) + sample * in_block;
        T* to = static_cast<T*>(output->data()) + sample * out_block + position * lanes;
        for (int64 lane = 0; lane < lanes; ++lane) {
          Total<T> total;
          for (int64 cell : cells) total.add(Total<T>::term(from[cell * lanes + lane]));
          to[lane] = total.over(static_cast<int64>(cells.size()));
        }
      }
    });
  });
  return std::vector<Tensor>{std::move(*output)};
}

template <int rank>
constexpr const char* kName = rank == 2 ? "AvgPool" : "AvgPool3D";

template <int rank>
std::vector<Output> gradient(const NodeGradient& g) {
  return {g.op(concat(kName<rank>, "Grad"), {g.op("Shape", {g.x(0)}), g.dy[0]}, pool_attrs(g))};
}

// The sizes that orig_input_shape holds.
Result<PartialTensorShape> stated_shape(const NodeView& node, int rank) {
  CONVGRAD_RETURN_IF_ERROR(want_vector(node, 0));
  const int64 length = node.inputs[0].shape.dim_size(0);
  const std::optional<std::vector<int64>> sizes = known_integers(node.inputs[0]);
  bool negative = false;
  for (std::size_t d = 0; sizes && d < sizes->size(); ++d) negative = negative || (*sizes)[d] < 0;
  if (negative || (length >= 0 && length != rank + 2))
    return node.refuse(
        {.rule = negative ? Rule::negative_dim : Rule::size_vector_length,
         .argument = "orig_input_shape",
         .reason = concat("orig_input_shape must be 1-dimensional and ", rank + 2, " elements of 0 or more"),
         .got = sizes ? convgrad::to_text(*sizes) : concat(length, " elements"),
         .wanted = concat(rank + 2, " sizes")});
  return sizes ? PartialTensorShape(*sizes) : PartialTensorShape(Shape(static_cast<std::size_t>(rank) + 2, -1));
}

template <int rank>
Result<Inferred> infer_grad(const NodeView& node) {
  const Result<PartialTensorShape> stated = stated_shape(node, rank);
  if (!stated.ok()) return stated.status();
  const Result<Pooled> pool = pooled(node, rank, *stated, "orig_input_shape");
  if (!pool.ok()) return pool.status();
  const Result<PartialTensorShape> grad = merge(node, pool->output, 1);
  if (!grad.ok()) return grad.status();
  return Inferred{{pool->input}};
}

// Every element of a window gets an equal part of the window's gradient.
template <int rank>
Result<std::vector<Tensor>> run_grad(const NodeRun& run) {
  const Tensor& dy = run.inputs[1];
  Result<Tensor> dx = Tensor::make(dy.dtype(), run.shapes[0]);
  if (!dx.ok()) return dx.status();
  const Geometry geometry = pooled(run.node, rank, PartialTensorShape(run.shapes[0]), "orig_input_shape")->geometry;
  const auto [samples, lanes] = lanes_of(geometry);
  const int64 in_block = positions(geometry.in) * lanes, out_block = positions(geometry.out) * lanes;
  visit(dy.dtype(), [&]<class T>(T) {
    if constexpr (!std::is_integral_v<T>) {
      std::vector<Total<T>> totals(static_cast<std::size_t>(dx->NumElements()));
      each_window(geometry, [&](int64 position, const std::vector<int64>& cells) {
        for (int64 sample = 0; sample < samples; ++sample) {
          const T* from = static_cast<const T*>(dy.data()) + sample * out_block + position * lanes;
          for (int64 lane = 0; lane < lanes; ++lane) {
            const double part = Total<T>::term(from[lane]) / static_cast<double>(cells.size());
            for (int64 cell : cells)
              totals[static_cast<std::size_t>(sample * in_block + cell * lanes + lane)].add(part);
          }
        }
      });
      T* to = static_cast<T*>(dx->data());
      for (const Total<T>& total : totals) *to++ = total.over(1);
    }
  });
  return std::vector<Tensor>{std::move(*dx)};
}

template <int rank>
std::vector<Output> gradient_grad(const NodeGradient& g) {
  return {NoGradient(), g.op(kName<rank>, {g.dy[0]}, pool_attrs(g))};
}

template <int rank>
OpRow row() {
  const PoolWords words{kName<rank>, rank == 2 ? "value" : "input", "The mean of every window, padding not counted."};
  return {.spec = pool_spec(rank, words, floating_types()),
          .infer = infer_pool<rank>,
          .run = run<rank>,
          .gradient = gradient<rank>};
}

template <int rank>
OpRow grad_row() {
  return {
      .spec = {.name = concat(kName<rank>, "Grad"),
               .group = pool_group(rank),
               .doc = concat("Gradient of ", kName<rank>, ": every element gets its part of its windows' gradients."),
               .inputs = {{"orig_input_shape", "int32", "Shape of the pooling's input."},
                          {"grad", "T", "Gradient with respect to the output."}},
               .outputs = {{"output", "T", "Gradient with respect to the input."}},
               .attrs = pool_attrs(rank, floating_types())},
      .infer = infer_grad<rank>,
      .run = run_grad<rank>,
      .gradient = gradient_grad<rank>};
}

}  // namespace

OpRow avg_pool_row(int rank) { return rank == 2 ? row<2>() : row<3>(); }
OpRow avg_pool_grad_row(int rank) { return rank == 2 ? grad_row<2>() : grad_row<3>(); }

}  // namespace convgrad::graph

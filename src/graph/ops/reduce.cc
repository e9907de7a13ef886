#include "graph/ops/reduce.h"

#include "graph/ops/strided.h"
#include "graph/ops/total.h"

namespace convgrad::graph {
namespace {

// The shape of a reduction's input with 1 for the dimensions of the axes.
Result<Shape> kept_shape(const NodeView& node, const Shape& input, const std::vector<int64>& axes) {
  Shape kept = input;
  const auto rank = static_cast<int64>(input.size());
  std::vector<bool> seen(input.size(), false);
  for (int64 axis : axes) {
    const bool inside = axis >= -rank && axis < rank;
    const auto at = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
    if (!inside || seen[at])
      return node.refuse({.rule = Rule::graph_shape,
                          .argument = "axis",
                          .reason = inside ? "Invalid reduction arguments: Axes contains duplicate dimension"
                                           : "Invalid reduction dimension",
                          .got = concat(axis),
                          .wanted = concat("different axes from ", -rank, " to ", rank - 1)});
    seen[at] = true;
    kept[at] = 1;
  }
  return kept;
}

// TensorFlow takes one axis without brackets, too.
convgrad::Status axis_is_list(const NodeView& node, std::size_t input) {
  return node.inputs[input].shape.dims() == 0 ? convgrad::Status() : want_vector(node, input);
}

Shape without_axes(const Shape& input, const std::vector<int64>& axes) {
  std::vector<bool> gone(input.size(), false);
  for (int64 axis : axes)
    gone[static_cast<std::size_t>(axis < 0 ? axis + static_cast<int64>(input.size()) : axis)] = true;
  Shape left;
  for (std::size_t d = 0; d < input.size(); ++d) {
    if (!gone[d]) left.push_back(input[d]);
  }
  return left;
}

// Input pin `input` reduced over pin `axis`.
Result<PartialTensorShape> reduced_shape(const NodeView& node, std::size_t input, std::size_t axis) {
  CONVGRAD_RETURN_IF_ERROR(axis_is_list(node, axis));
  const PartialTensorShape& shape = node.inputs[input].shape;
  const std::optional<std::vector<int64>> axes = known_integers(node.inputs[axis]);
  if (shape.unknown_rank()) return PartialTensorShape();
  if (!axes) return node.flag("keep_dims") ? PartialTensorShape(Shape(shape.sizes().size(), -1)) : PartialTensorShape();
  Result<Shape> kept = kept_shape(node, shape.sizes(), *axes);
  if (!kept.ok()) return kept.status();
  return PartialTensorShape(node.flag("keep_dims") ? *kept : without_axes(shape.sizes(), *axes));
}

// How many elements of the input make one of the result; 0 where there are none.
int64 terms_of(const Shape& input, const Shape& kept) {
  int64 count = 1;
  for (std::size_t d = 0; d < input.size(); ++d) count *= kept[d] == input[d] ? 1 : input[d];
  return count;
}

Result<Inferred> infer(const NodeView& node) {
  Result<PartialTensorShape> shape = reduced_shape(node, 0, 1);
  if (!shape.ok()) return shape.status();
  return Inferred{{*shape}};
}

template <Reduce reduce>
Result<std::vector<Tensor>> run(const NodeRun& run) {
  const Shape& input = run.inputs[0].shape().dim_sizes();
  const Result<Shape> kept = kept_shape(run.node, input, *known_integers(run.node.inputs[1]));
  if (!kept.ok()) return kept.status();
  const int64 count = reduce == Reduce::mean ? terms_of(input, *kept) : 1;
  return reduced(run.inputs[0], {*kept, run.shapes[0], count});
}

template <Reduce reduce>
std::vector<Output> gradient(const NodeGradient& g) {
  const char* name = reduce == Reduce::mean ? "MeanGrad" : "SumGrad";
  return {g.op(name, {g.dy[0], g.x(0), g.x(1)}, g.attrs({"keep_dims"})), NoGradient()};
}

Result<Inferred> infer_grad(const NodeView& node) {
  Result<PartialTensorShape> shape = reduced_shape(node, 1, 2);
  if (!shape.ok()) return shape.status();
  Result<PartialTensorShape> dy = merge(node, *shape, 0);
  if (!dy.ok()) return dy.status();
  return Inferred{{node.inputs[1].shape}};
}

// Every element of a sum gets the sum's gradient; of a mean, that divided by the number of elements.
template <Reduce reduce>
Result<std::vector<Tensor>> run_grad(const NodeRun& run) {
  const Shape& input = run.shapes[0];
  const Result<Shape> kept = kept_shape(run.node, input, *known_integers(run.node.inputs[2]));
  if (!kept.ok()) return kept.status();
  Result<Tensor> dx = gathered(run.inputs[0], broadcast_strides(*kept, input), input);
  if (!dx.ok()) return dx.status();
  const int64 count = terms_of(input, *kept);
  if (reduce == Reduce::mean && count > 1) {
    visit(dx->dtype(), [&]<class T>(T) {
      T* element = static_cast<T*>(dx->data());
      for (int64 i = 0; i < dx->NumElements(); ++i) {
        Total<T> total;
        total.add(Total<T>::term(element[i]));
        element[i] = total.over(count);
      }
    });
  }
  return std::vector<Tensor>{std::move(*dx)};
}

template <Reduce reduce>
std::vector<Output> gradient_grad(const NodeGradient& g) {
  const char* name = reduce == Reduce::mean ? "Mean" : "Sum";
  return {g.op(name, {g.dy[0], g.x(2)}, g.attrs({"keep_dims"})), NoGradient(), NoGradient()};
}

PinSpec axis_pin() { return {"axis", "Tidx", "Dimensions to reduce, negative ones from the end; none: no change."}; }

std::vector<AttrSpec> attrs() {
  return {flag("keep_dims", "Reduced dimensions stay, with size 1.", false), type_of_inputs("T", number_types()),
          type_of_inputs("Tidx", {DT_INT32, DT_INT64})};
}

}  // namespace

Result<std::vector<Tensor>> reduced(const Tensor& x, const Reduction& reduction) {
  Result<Tensor> y = Tensor::make(x.dtype(), reduction.result);
  if (!y.ok()) return y.status();
  const Shape& shape = x.shape().dim_sizes();
  const std::vector<int64> strides = broadcast_strides(reduction.kept, shape);
  const int64 length = row_length(shape), step = row_stride(strides);
  visit(x.dtype(), [&]<class T>(T) {
    const T* from = static_cast<const T*>(x.data());
    std::vector<Total<T>> totals(static_cast<std::size_t>(y->NumElements()));
    each_row<1>(shape, {strides}, [&](int64 first, const auto& at) {
      Total<T>* to = totals.data() + at[0];
      for (int64 i = 0; i < length; ++i) to[i * step].add(Total<T>::term(from[first + i]));
    });
    T* to = static_cast<T*>(y->data());
    for (const Total<T>& total : totals) *to++ = total.over(reduction.count);
  });
  return std::vector<Tensor>{std::move(*y)};
}

OpRow reduction_row(Reduce reduce) {
  const bool mean = reduce == Reduce::mean;
  return {.spec = {.name = mean ? "Mean" : "Sum",
                   .group = "Math",
                   .doc = mean ? "The means over some dimensions." : "The sums over some dimensions.",
                   .inputs = {{"input", "T", "Any tensor."}, axis_pin()},
                   .outputs = {{"output", "T", "One element for all that it is made from."}},
                   .attrs = attrs()},
          .infer = infer,
          .run = mean ? run<Reduce::mean> : run<Reduce::sum>,
          .gradient = mean ? gradient<Reduce::mean> : gradient<Reduce::sum>};
}

OpRow reduction_grad_row(Reduce reduce) {
  const bool mean = reduce == Reduce::mean;
  return {.spec = {.name = mean ? "MeanGrad" : "SumGrad",
                   .group = "Math",
                   .doc = concat("Gradient of ", mean ? "Mean" : "Sum", " with respect to its input."),
                   .inputs = {{"dy", "T", "Gradient with respect to the output."},
                              {"input", "T", "The input; only its shape is used."},
                              axis_pin()},
                   .outputs = {{"output", "T", "The input's shape."}},
                   .attrs = attrs()},
          .infer = infer_grad,
          .run = mean ? run_grad<Reduce::mean> : run_grad<Reduce::sum>,
          .gradient = mean ? gradient_grad<Reduce::mean> : gradient_grad<Reduce::sum>};
}

}  // namespace convgrad::graph

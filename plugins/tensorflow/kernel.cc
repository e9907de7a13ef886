// Tensors in, shapes to the validator, a plan, memory from TensorFlow for the result, and the run.
#include "kernel.h"

#include "convgrad/plan.h"

namespace convgrad::tensorflow {

// The op's tensors in the order of convgrad's OpOperands, and the sizes as numbers.
struct Kernel::Inputs {
  Owned<TF_Tensor> first, second;
  Shape first_shape, second_shape, sizes;
  int sizes_rank = 1;
};

namespace {

// Which input of the op is which.
struct Places {
  int first, second, sizes;
};
Places places_of(Direction direction) {
  switch (direction) {
    case Direction::forward: return {0, 1, -1};
    case Direction::input_grad: return {1, 2, 0};
    default: return {0, 2, 1};
  }
}

Result<Owned<TF_Tensor>> input(TF_OpKernelContext* context, int index) {
  TfStatus status;
  TF_Tensor* tensor = nullptr;
  api().GetInput(context, index, &tensor, status.get());
  if (Status taken = status.taken(); !taken.ok()) return taken;
  return Owned<TF_Tensor>(tensor);
}

Shape shape_of(const TF_Tensor& tensor) {
  Shape shape(static_cast<std::size_t>(api().NumDims(&tensor)));
  for (std::size_t i = 0; i < shape.size(); ++i) shape[i] = api().Dim(&tensor, static_cast<int>(i));
  return shape;
}

template <class Integer>
Shape elements(const TF_Tensor& tensor, std::int64_t count) {
  const auto* data = static_cast<const Integer*>(api().TensorData(&tensor));
  return count == 0 ? Shape{} : Shape(data, data + count);
}

// The elements of a tensor of sizes, int32 or int64.
Shape sizes_in(const TF_Tensor& tensor) {
  const std::int64_t count = element_count(shape_of(tensor)).value();
  return api().TensorType(&tensor) == kTfInt64 ? elements<std::int64_t>(tensor, count)
                                               : elements<std::int32_t>(tensor, count);
}

// The tensor in the shape that the plan reads it in: its own, but for a depthwise filter.
TensorView view_of(const TF_Tensor& tensor, DType dtype, Shape shape) {
  return {api().TensorData(&tensor), dtype, std::move(shape), {}};
}

}  // namespace

Result<Kernel::Inputs> Kernel::inputs(TF_OpKernelContext* context) const {
  const Places places = places_of(info(row_.op).direction);
  Inputs in;
  Result<Owned<TF_Tensor>> first = input(context, places.first);
  if (!first.ok()) return first.status();
  Result<Owned<TF_Tensor>> second = input(context, places.second);
  if (!second.ok()) return second.status();
  in.first = std::move(*first);
  in.second = std::move(*second);
  in.first_shape = shape_of(*in.first);
  in.second_shape = shape_of(*in.second);
  if (row_.sizes == SizesFrom::none) return in;
  const Result<Owned<TF_Tensor>> sizes = input(context, places.sizes);
  if (!sizes.ok()) return sizes.status();
  const bool vector = row_.sizes == SizesFrom::vector;
  in.sizes = vector ? sizes_in(**sizes) : shape_of(**sizes);
  if (vector) in.sizes_rank = api().NumDims(sizes->get());
  return in;
}

Result<Geometry> Kernel::geometry_of(const Inputs& in) const {
  ConvCall call;
  call.op = row_.op;
  call.dtype = attributes_.dtype;
  call.set_tensors(in.first_shape, in.second_shape);
  call.sizes = in.sizes;
  call.sizes_rank = in.sizes_rank;
  call.strides = attributes_.strides;
  call.dilations = attributes_.dilations;
  call.padding = attributes_.padding;
  call.explicit_paddings = attributes_.explicit_paddings;
  call.data_format = attributes_.data_format;
  call.depthwise = row_.form == Form::depthwise;
  return validate(call);
}

// TensorFlow aborts on a negative or overflowing size: shape is a validated geometry's, never a caller's.
Result<Owned<TF_Tensor>> Kernel::allocate(TF_OpKernelContext* context, int index, const Shape& shape) const {
  const Result<std::int64_t> count = element_count(shape);
  if (!count.ok()) return count.status();
  TfStatus status;
  Owned<TF_Tensor> output(
      api().AllocateOutput(context, index, attributes_.tf_dtype, shape.data(), static_cast<int>(shape.size()),
                           static_cast<std::size_t>(*count) * size_of(attributes_.dtype), status.get()));
  if (Status taken = status.taken(); !taken.ok()) return taken;
  return output;
}

// Result `index` of the op: what geometry.direction asks of the operands.
Status Kernel::write(TF_OpKernelContext* context, int index, const Geometry& geometry, const Inputs& in) const {
  const Policy policy{.threads = threads_};
  const Result<Plan> plan = make_plan(geometry, policy);
  if (!plan.ok()) return plan.status();
  const bool depthwise_filter = row_.form == Form::depthwise && geometry.direction == Direction::filter_grad;
  const Shape planned = result_shape(geometry);
  const Result<Owned<TF_Tensor>> output = allocate(context, index, depthwise_filter ? in.sizes : planned);
  if (!output.ok()) return output.status();
  RunArgs args;
  const std::vector<Operand> wanted = operands(geometry);
  const bool bias = geometry.direction == Direction::bias_grad;
  args.first = view_of(bias ? *in.second : *in.first, attributes_.dtype, wanted[0].shape);
  if (!bias) args.second = view_of(*in.second, attributes_.dtype, wanted[1].shape);
  args.result = {api().TensorData(output->get()), attributes_.dtype, planned, {}};
  return run(*plan, args, policy);
}

Status Kernel::compute(TF_OpKernelContext* context) const {
  const Result<Inputs> in = inputs(context);
  if (!in.ok()) return in.status();
  Result<Geometry> geometry = geometry_of(*in);
  if (!geometry.ok()) return geometry.status();
  CONVGRAD_RETURN_IF_ERROR(write(context, 0, *geometry, *in));
  if (row_.form != Form::with_bias) return {};
  geometry->direction = Direction::bias_grad;
  return write(context, 1, *geometry, *in);
}

}  // namespace convgrad::tensorflow

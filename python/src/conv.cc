#include "conv.h"

#include "errors.h"
#include "recent_plans.h"
#include "results.h"
#include "running.h"
#include "settings.h"

namespace convgrad::python {
namespace {

std::string_view first_name(Direction direction) { return direction == Direction::input_grad ? "filter" : "input"; }
std::string_view second_name(Direction direction) {
  return direction == Direction::forward ? "filter" : "out_backprop";
}
std::string_view sizes_name(Direction direction) {
  return direction == Direction::input_grad ? "input_sizes" : "filter_sizes";
}

PaddingArgument padding_of(const Given& given) {
  if (given.explicit_paddings.is_none()) return padding_from(given.padding);
  return {text_from(given.padding, "padding"), flat_integers_from(given.explicit_paddings, "explicit_paddings")};
}

nb::object compute(NamedOp op, const Given& given, nb::handle out) {
  CallArguments arguments(op, given, out);
  const Site& site = arguments.site();
  const Policy policy = current_policy(site.place);
  const std::shared_ptr<const Plan> plan = value_or_raise(plan_of(arguments.call(), policy));
  const Geometry& geometry = plan->geometry;
  const Shape shape = arguments.result_shape(geometry);
  Answer answer = out.is_none() ? Answer(site, arguments.kind(), geometry.dtype, shape) : Answer(site, out);
  MutableTensorView result = answer.view();
  if (op.depthwise) {
    arguments.regroup_filter(geometry);
    result.shape = result_shape(geometry);
  }
  const RunArgs args{
      std::move(arguments.first().view), std::move(arguments.second().view), std::move(result), {}, site.stream};
  raise_if_error(run_released(*plan, args, policy));
  return answer.take();
}

}  // namespace

CallArguments::CallArguments(NamedOp op, const Given& given, nb::handle out)
    : op_(op), site_(site_of({out, given.first, given.second})) {
  read_tensors(given);
  if (!given.sizes.is_none()) sizes_ = integers_from(given.sizes, sizes_name(info(op.op).direction));
  strides_ = flat_integers_from(given.strides, "strides");
  padding_ = padding_of(given);
  // As in TensorFlow, None stands for an attribute's default.
  data_format_ = given.data_format.is_none() ? data_format(Layout::channels_last, info(op.op).rank)
                                             : text_from(given.data_format, "data_format");
  if (given.dilations.is_none())
    dilations_.assign(static_cast<std::size_t>(info(op.op).rank) + 2, 1);
  else
    dilations_ = flat_integers_from(given.dilations, "dilations");
}

// A list of numbers takes the other tensor's element type.
void CallArguments::read_tensors(const Given& given) {
  const Direction direction = info(op_.op).direction;
  const bool list_first = is_plain_list(given.first) && !is_plain_list(given.second);
  if (!list_first) first_ = array_from(given.first, first_name(direction), site_);
  second_ = array_from(given.second, second_name(direction), site_,
                       list_first ? std::nullopt : std::optional(first_.view.dtype));
  if (list_first) first_ = array_from(given.first, first_name(direction), site_, second_.view.dtype);
}

ConvCall CallArguments::call() const {
  ConvCall call;
  call.op = op_.op;
  call.depthwise = op_.depthwise;
  call.dtype = first_.view.dtype;
  call.second_dtype = second_.view.dtype;
  call.set_tensors(first_.view.shape, second_.view.shape);
  call.sizes = sizes_.numbers;
  call.sizes_rank = sizes_.rank;
  call.strides = strides_;
  call.dilations = dilations_;
  call.padding = padding_.name;
  call.explicit_paddings = padding_.pairs;
  call.data_format = data_format_;
  return call;
}

Shape CallArguments::result_shape(const Geometry& geometry) const {
  const bool filter = op_.depthwise && geometry.direction == Direction::filter_grad;
  return filter ? sizes_.numbers : convgrad::result_shape(geometry);
}

void CallArguments::regroup_filter(const Geometry& geometry) {
  if (geometry.direction == Direction::filter_grad) return;
  TensorView& filter = (geometry.direction == Direction::forward ? second_ : first_).view;
  if (!filter.byte_strides.empty() && site_.place.memory == Memory::host) {
    filter_copy_ = value_or_raise(contiguous_copy(filter));
    filter = filter_copy_.view();
  }
  filter.shape = filter_shape(geometry);
}

void bind_conv(nb::module_& module) {
  module.def(
      "eager_ops",
      [] {
        nb::list names;
        for (std::string_view name : op_names()) names.append(nb::str(name.data(), name.size()));
        return names;
      },
      nb::sig("def eager_ops() -> list[str]"), "The convolution ops that are computed without a graph.");
  module.def(
      "tensor_arguments",
      [](nb::handle op) {
        nb::list names;
        for (std::string_view name : tensor_arguments(info(op_from(op, op_from_name)).direction))
          names.append(nb::str(name.data(), name.size()));
        return names;
      },
      nb::sig("def tensor_arguments(op: str) -> list[str]"), "Tensors and sizes of an op, in TensorFlow's order.");
  module.def(
      "rank", [](nb::handle op) { return info(op_from(op, op_from_name)).rank; }, nb::sig("def rank(op: str) -> int"),
      "Spatial dimensions of an op.");
  module.def(
      "data_format",
      [](nb::handle op) {
        const std::string_view name = data_format(Layout::channels_last, info(op_from(op, op_from_name)).rank);
        return nb::str(name.data(), name.size());
      },
      nb::sig("def data_format(op: str) -> str"), "An op's data_format where the caller says none.");
  module.def(
      "integers",
      [](nb::handle object, const nb::str& argument) {
        nb::list numbers;
        for (std::int64_t number : flat_integers_from(object, text_of(argument))) numbers.append(number);
        return numbers;
      },
      nb::arg().none(), nb::arg(), nb::sig("def integers(value: object, argument: str, /) -> list[int]"),
      "A number, list or array of integers as a list; what is none is refused by the argument's name.");
  module.def(
      "conv",  // without names or defaults: the quickest way in
      [](nb::handle op, nb::handle first, nb::handle second, nb::handle sizes, nb::handle strides, nb::handle padding,
         nb::handle explicit_paddings, nb::handle data_format, nb::handle dilations, nb::handle out) {
        return compute(op_from(op, named_op),
                       {first, second, sizes, strides, padding, explicit_paddings, data_format, dilations}, out);
      },
      nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg().none(),
      nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg().none(),
      nb::sig("def conv(op: str, first: object, second: object, sizes: object, strides: object, padding: object, "
              "explicit_paddings: object, data_format: object, dilations: object, out: object, /) -> typing.Any"),
      "A convolution op. With explicit_paddings of None, padding is a name or a list of pairs.");
}

}  // namespace convgrad::python

// conv_gradients: dx, dw and db in one call.
#include "convgrad/conv.h"

#include <tuple>

#include "conv.h"
#include "errors.h"
#include "results.h"
#include "running.h"
#include "settings.h"

namespace convgrad::python {
namespace {

// The tensors of a layer, and where they lie.
struct Layer {
  Site site;
  Array x, w, dy;

  Layer(nb::handle input, nb::handle filter, nb::handle out_backprop) : site(site_of({input, filter, out_backprop})) {
    std::optional<DType> like;  // of the first that says its type; lists take it
    for (const bool lists : {false, true}) {
      for (const auto& [array, given, name] : {std::tuple(&x, input, "input"), std::tuple(&w, filter, "filter"),
                                               std::tuple(&dy, out_backprop, "out_backprop")}) {
        if (is_plain_list(given) != lists) continue;
        *array = array_from(given, name, site, like);
        if (!like) like = array->view.dtype;
      }
    }
  }
};

// Nothing stands for a default in ConvOptions; here a default is left out.
template <class List>
List filled(List list, std::string_view argument) {
  if (list.empty()) raise(wrong_type(argument, "nothing", "one entry a dimension"));
  return list;
}

ConvOptions options_from(nb::handle strides, nb::handle padding, nb::handle data_format, nb::handle dilations) {
  PaddingArgument pads = padding_from(padding);
  return {.strides = filled(flat_integers_from(strides, "strides"), "strides"),
          .padding = {std::string(pads.name), std::move(pads.pairs)},
          .dilations = filled(flat_integers_from(dilations, "dilations"), "dilations"),
          .data_format = std::string(filled(text_from(data_format, "data_format"), "data_format")),
          .policy = current_policy()};
}

// Microseconds of the three gradients on a core of 10 multiply-adds a nanosecond.
double least_cost_us(const TensorView& filter, const TensorView& out_backprop) {
  double multiply_adds =
      filter.shape.empty() ? 0 : 1.0 / static_cast<double>(std::max<std::int64_t>(filter.shape.back(), 1));
  for (const Shape* shape : {&filter.shape, &out_backprop.shape}) {
    for (std::int64_t size : *shape) multiply_adds *= static_cast<double>(size);
  }
  return 3 * multiply_adds / 10'000;
}

nb::object on_host(const Layer& layer, ConvOptions options) {
  std::optional<ConvGradients> gradients;
  const Work work = [&](const Policy& policy) -> Status {
    options.policy = policy;
    Result<ConvGradients> made = conv_gradients(layer.x.view, layer.w.view, layer.dy.view, options);
    if (made.ok()) gradients = *std::move(made);
    return made.status();
  };
  raise_if_error(run_released(work, options.policy, least_cost_us(layer.w.view, layer.dy.view)));
  return nb::make_tuple(array_of(gradients->input, layer.x.kind), array_of(gradients->filter, layer.x.kind),
                        array_of(gradients->bias, layer.x.kind));
}

nb::object on_gpu(const Layer& layer, ConvOptions options) {
  options.policy.place = layer.site.place;
  const ConvGradientPlans plans = value_or_raise(plan_gradients(layer.x.view, layer.w.view, layer.dy.view, options));
  const auto gradient = [&](const Plan& plan, const TensorView& first, const TensorView& second) {
    Answer answer(layer.site, layer.x.kind, plan.geometry.dtype, result_shape(plan.geometry));
    raise_if_error(run_released(plan, {first, second, answer.view(), {}, layer.site.stream}, options.policy));
    return answer.take();
  };
  return nb::make_tuple(gradient(plans.input, layer.w.view, layer.dy.view),
                        gradient(plans.filter, layer.x.view, layer.dy.view), gradient(plans.bias, layer.dy.view, {}));
}

}  // namespace

void bind_gradients(nb::module_& module) {
  module.def(
      "conv_gradients",
      [](nb::handle input, nb::handle filter, nb::handle out_backprop, nb::handle strides, nb::handle padding,
         nb::handle data_format, nb::handle dilations) {
        const Layer layer(input, filter, out_backprop);
        ConvOptions options = options_from(strides, padding, data_format, dilations);
        return layer.site.place.memory == Memory::host ? on_host(layer, std::move(options))
                                                       : on_gpu(layer, std::move(options));
      },
      nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg().none(),
      nb::arg().none(),
      nb::sig("def conv_gradients(input: object, filters: object, out_backprop: object, strides: object, "
              "padding: object, data_format: object, dilations: object, /) -> tuple[typing.Any, ...]"),
      "dx, dw and db of a convolution layer.");
}

}  // namespace convgrad::python

// What Python asks before anything runs: the shape of a call's result, or why there is none.
#include "shape.h"

#include <algorithm>

#include "words.h"

namespace convgrad::jax {
namespace {

thread_local Status t_refusal;

ConvCall::Numbers list(const convgrad_numbers& numbers) {
  return {numbers.values, static_cast<std::size_t>(numbers.count)};
}

Result<DType> dtype_of(std::string_view argument, const char* name) {
  const std::optional<DType> found = dtype_from_name(name);
  return found ? Result<DType>(*found) : Result<DType>(unknown_dtype(argument, name));
}

Result<Shape> shape_of_result(const convgrad_jax_call& c) {
  const Result<DType> first = dtype_of("dtype", c.first_dtype);
  if (!first.ok()) return first.status();
  const Result<DType> second = dtype_of("dtype", c.second_dtype);
  if (!second.ok()) return second.status();
  const Words words{c.op, c.padding, c.data_format, list(c.strides), list(c.dilations), list(c.explicit_paddings)};
  const Result<Geometry> geometry =
      geometry_of(words, {*first, *second, list(c.first), list(c.second), list(c.sizes), c.sizes_rank});
  return geometry.ok() ? Result<Shape>(result_shape(*geometry)) : Result<Shape>(geometry.status());
}

}  // namespace
}  // namespace convgrad::jax

std::int32_t convgrad_jax_result_shape(const convgrad_jax_call* call, std::int64_t* shape) {
  using namespace convgrad::jax;
  const convgrad::Result<convgrad::Shape> found = guarded([&] { return shape_of_result(*call); });
  t_refusal = found.status();
  if (found.ok()) std::copy(found->begin(), found->end(), shape);
  return static_cast<std::int32_t>(found.status().code());
}

void convgrad_jax_refuse_type(const char* argument, const char* got, const char* wanted) {
  convgrad::jax::t_refusal = convgrad::wrong_type(argument, got, wanted);
}

convgrad_jax_refusal convgrad_jax_last_refusal(void) {
  const convgrad::Status& last = convgrad::jax::t_refusal;
  return {convgrad::name(last.code()), last.message().c_str(), last.argument().c_str(),
          last.got().c_str(),          last.wanted().c_str(),  last.rule().c_str()};
}

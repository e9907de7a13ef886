#include "words.h"

#include <string>

namespace convgrad::jax {

Result<Geometry> geometry_of(const Words& words, const Tensors& tensors) {
  ConvCall call;
  const std::optional<Op> op = op_from_name(words.op);
  call.op = op.value_or(static_cast<Op>(-1));
  if (!op) return validate(call);  // says which ops there are
  call.dtype = tensors.first_dtype;
  call.second_dtype = tensors.second_dtype;
  call.set_tensors(tensors.first, tensors.second);
  if (info(*op).direction != Direction::forward) {
    call.sizes = tensors.sizes;
    call.sizes_rank = tensors.sizes_rank;
  }
  call.strides = words.strides;
  call.dilations = words.dilations;
  call.padding = words.padding;
  call.explicit_paddings = words.explicit_paddings;
  call.data_format = words.data_format;
  return validate(call);
}

Status unknown_dtype(std::string_view argument, std::string_view got) {
  std::string wanted;
  for (const DTypeInfo& row : all_dtypes()) wanted += std::string(wanted.empty() ? "" : ", ") += row.numpy_name;
  return wrong_type(argument, got, wanted);
}

}  // namespace convgrad::jax

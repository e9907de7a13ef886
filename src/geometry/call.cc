// OwnedCall: from lists to the spans that validate() reads.
#include "convgrad/geometry.h"

namespace convgrad {
namespace {

std::optional<ConvCall::Numbers> span_of(const std::optional<Shape>& list) {
  return list ? std::optional<ConvCall::Numbers>(*list) : std::nullopt;
}

}  // namespace

OwnedCall OwnedCall::of(Op op) {
  const int rank = info(op).rank;
  OwnedCall call;
  call.op = op;
  call.strides.assign(static_cast<std::size_t>(rank) + 2, 1);
  call.dilations = call.strides;
  call.data_format = convgrad::data_format(Layout::channels_last, rank);
  return call;
}

ConvCall OwnedCall::view() const {
  return {.op = op,
          .dtype = dtype,
          .second_dtype = std::nullopt,
          .input = span_of(input),
          .filter = span_of(filter),
          .out_backprop = span_of(out_backprop),
          .sizes = sizes,
          .sizes_rank = sizes_rank,
          .strides = strides,
          .dilations = dilations,
          .derive_out = false,
          .padding = padding,
          .explicit_paddings = explicit_paddings,
          .data_format = data_format,
          .depthwise = depthwise};
}

}  // namespace convgrad

// Reading what XLA hands over: nothing in it is trusted but its addresses.
#pragma once

#include "words.h"
#include "xla_ffi.h"

namespace convgrad::jax {

// Two operands and one result, contiguous and row-major.
struct Given {
  const xla::Buffer* first = nullptr;
  const xla::Buffer* second = nullptr;
  const xla::Buffer* result = nullptr;
};
Result<Given> tensors_of(const xla::CallFrame& frame);

Result<Words> words_of(const xla::CallFrame& frame);

Result<DType> dtype_of(const xla::Buffer& buffer);
ConvCall::Numbers shape_of(const xla::Buffer& buffer);

}  // namespace convgrad::jax

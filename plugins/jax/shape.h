// The functions that Python calls by ctypes; python/convgrad/_jax_library.py declares them again.
#pragma once

#include <cstdint>

#include "convgrad/convgrad_c.h"

extern "C" {

// An op call as in TensorFlow. Every text is there; a list is NULL only when it is empty.
struct convgrad_jax_call {
  const char* op;
  const char* first_dtype;  // NumPy's name
  const char* second_dtype;
  const char* padding;
  const char* data_format;
  convgrad_numbers first;  // shapes of the operands, in the order of the op's arguments
  convgrad_numbers second;
  convgrad_numbers sizes;
  convgrad_numbers strides;
  convgrad_numbers dilations;
  convgrad_numbers explicit_paddings;
  std::int32_t sizes_rank;
};

// Writes the result's shape (of as many dimensions as the op's operands, at most 5) and returns a convgrad_status.
CONVGRAD_API std::int32_t convgrad_jax_result_shape(const convgrad_jax_call* call, std::int64_t* shape);

// Makes the library's sentence about an argument of the wrong type this thread's last refusal.
CONVGRAD_API void convgrad_jax_refuse_type(const char* argument, const char* got, const char* wanted);

// Of the last call of this thread that was refused; valid until its next call.
struct convgrad_jax_refusal {
  const char* code;
  const char* message;
  const char* argument;
  const char* got;
  const char* wanted;
  const char* rule;
};
CONVGRAD_API convgrad_jax_refusal convgrad_jax_last_refusal(void);
}

// A Status as a Python exception of convgrad.errors.
#pragma once

#include <nanobind/nanobind.h>

#include "convgrad/status.h"

namespace convgrad::python {

// Throws the exception class of the status's code and rule, with argument, got, wanted and rule as attributes.
[[noreturn]] void raise(const Status& status);

inline void raise_if_error(const Status& status) {
  if (!status.ok()) raise(status);
}

template <class T>
T value_or_raise(Result<T>&& result) {
  raise_if_error(result.status());
  return *std::move(result);
}

}  // namespace convgrad::python

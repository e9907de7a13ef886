// A Status as a Python exception of convgrad.errors.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "convgrad/status.h"

namespace convgrad::python {

// A Python string, or what str() makes of the object, as UTF-8: half a surrogate pair as its number.
std::string text_of(nanobind::handle object);
// The name of an object's type.
std::string type_of(nanobind::handle object);
// "an object of type list", as sentences say it.
std::string object_text(nanobind::handle object);
// Text of the library's, or of a file's, as a string; a byte that is no UTF-8 becomes U+FFFD.
nanobind::str string_of(std::string_view text);

// Forgets the exception that is set, for which a sentence of ours will stand; throws it where it is no error (Ctrl-C)
// or says that memory is out.
void clear_exception();

// Throws the exception class of the status's code and rule, with argument, got, wanted and rule as attributes.
[[noreturn]] void raise(const Status& status);

// std::bad_alloc, wherever it comes from, as ResourceExhaustedError.
void translate_errors();

inline void raise_if_error(const Status& status) {
  if (!status.ok()) raise(status);
}

template <class T>
T value_or_raise(Result<T>&& result) {
  raise_if_error(result.status());
  return *std::move(result);
}

}  // namespace convgrad::python

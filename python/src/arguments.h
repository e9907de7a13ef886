// Attributes of a call as Python writes them: integers, lists of them, names.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>

#include "convgrad/tensor.h"

namespace convgrad::python {

namespace nb = nanobind;

std::int64_t integer_from(nb::handle object, std::string_view argument);

// Integers as a list, tuple or array of any integer type; rank 0 for a bare number, 2 for a list of lists.
struct Integers {
  Shape numbers;
  int rank = 1;
};
Integers integers_from(nb::handle object, std::string_view argument);
// The same where TensorFlow takes no list of lists.
Shape flat_integers_from(nb::handle object, std::string_view argument);

// Points into the object, which must live as long.
std::string_view text_from(nb::handle object, std::string_view argument);

// A name, or one (before, after) pair a dimension.
struct PaddingArgument {
  std::string_view name;
  Shape pairs;
};
PaddingArgument padding_from(nb::handle object);

}  // namespace convgrad::python

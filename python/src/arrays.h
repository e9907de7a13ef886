// Arrays of callers as the library's views. Nothing is copied unless the bytes are in the other order or no array is
// there yet (lists); strides of any sign stay as they are. An array that lies elsewhere than its call's site is
// refused.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string_view>

#include "convgrad/tensor.h"
#include "site.h"

namespace convgrad::python {

namespace nb = nanobind;

// Whose array a caller handed over, so that the result can be of the same kind.
enum class Kind : int { numpy, torch, jax, tensorflow, other };

// A view, and what keeps its memory alive.
struct Array {
  TensorView view;
  Kind kind = Kind::numpy;
  bool writable = true;
  nb::object owner = {};
  nb::ndarray<nb::ro> lent = {};  // what came through DLPack
};

// `like` is the element type that a list of numbers takes: TensorFlow's rule is that of the other tensor, or float32.
Array array_from(nb::handle object, std::string_view argument, const Site& site, std::optional<DType> like = {});
// The numbers of a list as an array of dtype. One that the type does not hold is refused: NumPy makes another of it.
nb::object list_as(nb::handle list, DType dtype, std::string_view argument);
// Whether an object says its own element type, or takes that of its neighbour.
bool is_plain_list(nb::handle object);

// Memory for a result: refuses what is no array, read-only, or not in this machine's byte order.
struct Output {
  MutableTensorView view;
  nb::ndarray<> lent = {};  // what came through DLPack
};
Output output_from(nb::handle object, const Site& site);

}  // namespace convgrad::python

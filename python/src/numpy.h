// NumPy through its array interface: the C struct that every ndarray hands out under __array_struct__. It knows element
// types that DLPack and buffers refuse (bfloat16 of ml_dtypes), byte order and writability, and needs no headers.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <string_view>

#include "convgrad/dtype.h"
#include "convgrad/tensor.h"

namespace convgrad::python {

namespace nb = nanobind;

// The layout is NumPy's contract ("PyArrayInterface", version 2).
struct ArrayStruct {
  int two;
  int dimensions;
  char kind;
  int item_bytes;
  int flags;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  void* data;
  PyObject* description;

  bool contiguous() const { return (flags & 0x1) != 0; }
  bool native() const { return (flags & 0x200) != 0; }
  bool writable() const { return (flags & 0x400) != 0; }
};

// What is asked of the module numpy more than once; lives as long as the process.
struct NumPy {
  nb::object ndarray, asarray, empty, dtype;
  static const NumPy& get();
};

bool is_ndarray(nb::handle object);
// A list or a tuple.
bool is_list(nb::handle object);
// The first element of the first list in ... in a list, which is a list itself beyond the 64 levels that NumPy takes.
nb::object first_element(nb::handle list);
// What NumPy makes of an object; of a subclass, whose methods may do anything, a plain view. Refused by the argument's
// name: masked elements, and what NumPy makes objects of.
nb::object ndarray_from(nb::handle object, std::string_view argument);

// NumPy's refusal to make an array of the object as ours; other exceptions go on.
[[noreturn]] void refuse_what_numpy_refused(nb::python_error& error, std::string_view argument, nb::handle object);
template <class Call>
nb::object by_numpy(const Call& call, std::string_view argument, nb::handle object) {
  try {
    return call();
  } catch (nb::python_error& error) {
    refuse_what_numpy_refused(error, argument, object);
  }
}

// The struct and the capsule that owns it.
struct Interface {
  nb::object capsule;
  const ArrayStruct& fields;
};
Interface interface_of(nb::handle ndarray);

// The library's element type of an array; none where it knows no such type.
std::optional<DType> dtype_of(nb::handle ndarray, const ArrayStruct& fields);
// "float32", "object", ...
std::string dtype_name(nb::handle ndarray);
// NumPy's dtype object; bfloat16 is that of ml_dtypes.
nb::handle numpy_dtype(DType dtype);
nb::object new_ndarray(DType dtype, const Shape& shape);
Shape shape_of(const ArrayStruct& fields);

}  // namespace convgrad::python

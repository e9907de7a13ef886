#include "numpy.h"

#include <array>

#include "convgrad/geometry.h"
#include "errors.h"

namespace convgrad::python {
namespace {

// A DLPack type code for each of NumPy's kinds: DTypeInfo has the rest.
int dlpack_code(nb::handle ndarray, const ArrayStruct& fields) {
  switch (fields.kind) {
    case 'i': return 0;
    case 'f': return 2;
    case 'V': return dtype_name(ndarray) == "bfloat16" ? 4 : -1;
    default: return -1;
  }
}

// NumPy's functions but those of masked arrays do as if nothing were masked.
void refuse_masked(nb::handle array, std::string_view argument) {
  if (nb::cast<bool>(nb::module_::import_("numpy.ma").attr("is_masked")(array)))
    raise(wrong_type(argument, "masked elements", "an array of numbers alone: array.filled(0), or array.data"));
}

// Asked of the list itself: a subclass may say anything.
bool is_filled_list(nb::handle object) {
  return is_list(object) && (PyList_Check(object.ptr()) ? PyList_Size(object.ptr()) : PyTuple_Size(object.ptr())) > 0;
}

// NumPy follows a list that is twice in itself without an end.
void refuse_ring(nb::handle list, std::string_view argument) {
  if (is_filled_list(first_element(list)))
    raise(wrong_type(argument, "lists in lists without an end", "at most 64 levels"));
}

nb::object bfloat16() {
  try {
    return nb::module_::import_("ml_dtypes").attr("bfloat16");
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ImportError)) throw;
    raise(wrong_type("dtype", "bfloat16, which NumPy has not", "the package ml_dtypes beside it"));
  }
}

nb::object make_dtype(DType dtype) {
  const NumPy& numpy = NumPy::get();
  if (dtype == DType::bf16) return numpy.dtype(bfloat16());
  return numpy.dtype(nb::str(info(dtype).numpy_name.data()));
}

}  // namespace

const NumPy& NumPy::get() {
  static const NumPy* const numpy = [] {
    const nb::object module = nb::module_::import_("numpy");
    return new NumPy{module.attr("ndarray"), module.attr("asarray"), module.attr("empty"), module.attr("dtype")};
  }();
  return *numpy;
}

bool is_ndarray(nb::handle object) {
  return PyType_IsSubtype(Py_TYPE(object.ptr()), reinterpret_cast<PyTypeObject*>(NumPy::get().ndarray.ptr())) != 0;
}

bool is_list(nb::handle object) { return PyList_Check(object.ptr()) != 0 || PyTuple_Check(object.ptr()) != 0; }

nb::object first_element(nb::handle list) {
  nb::handle element = list;
  for (int level = 0; level < 64 && is_filled_list(element); ++level) {
    PyObject* const inner = element.ptr();
    element = PyList_Check(inner) ? PyList_GetItem(inner, 0) : PyTuple_GetItem(inner, 0);
  }
  return nb::borrow(element);
}

nb::object ndarray_from(nb::handle object, std::string_view argument) {
  const nb::handle plain = NumPy::get().ndarray;
  if (object.type().is(plain)) return nb::borrow(object);
  if (is_ndarray(object)) refuse_masked(object, argument);
  if (is_list(object)) refuse_ring(object, argument);
  nb::object array = by_numpy([&] { return NumPy::get().asarray(object); }, argument, object);
  if (!is_ndarray(object) && dtype_name(array) == "object")
    raise(wrong_type(argument, object_text(object), "an array of numbers"));
  return array;
}

Interface interface_of(nb::handle ndarray) {
  static PyObject* const attribute = PyUnicode_InternFromString("__array_struct__");
  nb::object capsule = nb::steal(PyObject_GetAttr(ndarray.ptr(), attribute));
  if (!capsule.is_valid()) throw nb::python_error();
  const void* fields = PyCapsule_GetPointer(capsule.ptr(), nullptr);
  if (fields == nullptr) throw nb::python_error();
  return {std::move(capsule), *static_cast<const ArrayStruct*>(fields)};
}

std::optional<DType> dtype_of(nb::handle ndarray, const ArrayStruct& fields) {
  const int code = dlpack_code(ndarray, fields);
  for (const DTypeInfo& row : all_dtypes()) {
    if (row.dlpack_code == code && row.dlpack_bits == fields.item_bytes * 8) return row.dtype;
  }
  return std::nullopt;
}

std::string dtype_name(nb::handle ndarray) { return text_of(ndarray.attr("dtype")); }

nb::handle numpy_dtype(DType dtype) {
  static std::array<PyObject*, 8> made = {};  // kept for the process's life
  PyObject*& slot = made.at(static_cast<std::size_t>(dtype));
  if (slot == nullptr) slot = make_dtype(dtype).release().ptr();
  return slot;
}

void refuse_what_numpy_refused(nb::python_error& error, std::string_view argument, nb::handle object) {
  if (error.matches(PyExc_MemoryError)) raise(Status::out_of_memory());
  if (!error.matches(PyExc_ValueError) && !error.matches(PyExc_TypeError)) throw error;
  raise(wrong_type(argument, object_text(object), "what NumPy makes an array of: " + text_of(error.value())));
}

nb::object new_ndarray(DType dtype, const Shape& shape) {
  nb::object sizes = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
  for (std::size_t d = 0; d < shape.size(); ++d) {
    PyTuple_SetItem(sizes.ptr(), static_cast<Py_ssize_t>(d), PyLong_FromLongLong(shape[d]));
  }
  return by_numpy([&] { return NumPy::get().empty(sizes, numpy_dtype(dtype)); }, "result", sizes);
}

Shape shape_of(const ArrayStruct& fields) { return Shape(fields.shape, fields.shape + fields.dimensions); }

}  // namespace convgrad::python

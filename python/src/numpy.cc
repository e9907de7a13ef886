#include "numpy.h"

#include <array>

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

nb::object make_dtype(DType dtype) {
  const NumPy& numpy = NumPy::get();
  if (dtype == DType::bf16) return numpy.dtype(nb::module_::import_("ml_dtypes").attr("bfloat16"));
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
  const nb::handle type = NumPy::get().ndarray;
  return object.type().is(type) || PyObject_IsInstance(object.ptr(), type.ptr()) == 1;
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

std::string dtype_name(nb::handle ndarray) {
  const nb::object dtype = ndarray.attr("dtype");
  return nb::str(dtype).c_str();
}

nb::handle numpy_dtype(DType dtype) {
  static std::array<PyObject*, 8> made = {};  // kept for the process's life
  PyObject*& slot = made.at(static_cast<std::size_t>(dtype));
  if (slot == nullptr) slot = make_dtype(dtype).release().ptr();
  return slot;
}

nb::object new_ndarray(DType dtype, const Shape& shape) {
  nb::object sizes = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
  for (std::size_t d = 0; d < shape.size(); ++d) {
    PyTuple_SetItem(sizes.ptr(), static_cast<Py_ssize_t>(d), PyLong_FromLongLong(shape[d]));
  }
  return NumPy::get().empty(sizes, numpy_dtype(dtype));
}

Shape shape_of(const ArrayStruct& fields) { return Shape(fields.shape, fields.shape + fields.dimensions); }

}  // namespace convgrad::python

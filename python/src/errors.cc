#include "errors.h"

#include <new>

namespace nb = nanobind;

namespace convgrad::python {

std::string text_of(nb::handle object) {
  const nb::str string(object);
  Py_ssize_t size = 0;
  if (const char* text = PyUnicode_AsUTF8AndSize(string.ptr(), &size); text != nullptr)
    return {text, static_cast<std::size_t>(size)};
  clear_exception();
  const nb::object bytes = string.attr("encode")("utf-8", "backslashreplace");
  char* data = nullptr;
  if (PyBytes_AsStringAndSize(bytes.ptr(), &data, &size) != 0) throw nb::python_error();
  return {data, static_cast<std::size_t>(size)};
}

std::string type_of(nb::handle object) { return text_of(nb::inst_name(object)); }

std::string object_text(nb::handle object) { return "an object of type " + type_of(object); }

nb::str string_of(std::string_view text) {
  nb::object string = nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
  if (!string.is_valid()) throw nb::python_error();
  return nb::borrow<nb::str>(string);
}

void clear_exception() {
  if (PyErr_ExceptionMatches(PyExc_Exception) == 0 || PyErr_ExceptionMatches(PyExc_MemoryError) != 0)
    throw nb::python_error();
  PyErr_Clear();
}

void raise(const Status& status) {
  const nb::object exception =
      nb::module_::import_("convgrad.errors")
          .attr("from_status")(name(status.code()), string_of(status.message()), string_of(status.argument()),
                               string_of(status.got()), string_of(status.wanted()), string_of(status.rule()));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
      try {
        raise(Status::out_of_memory());
      } catch (nb::python_error& error) {
        error.restore();
      }
    }
  });
}

}  // namespace convgrad::python

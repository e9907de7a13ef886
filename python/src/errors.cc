#include "errors.h"

namespace nb = nanobind;

namespace convgrad::python {

void raise(const Status& status) {
  const nb::object exception =
      nb::module_::import_("convgrad.errors")
          .attr("from_status")(name(status.code()), status.message().c_str(), status.argument().c_str(),
                               status.got().c_str(), status.wanted().c_str(), status.rule().c_str());
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

}  // namespace convgrad::python

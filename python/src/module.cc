// convgrad._core: the library's public C++ interface over Python's arrays. The package's other modules give its
// functions TensorFlow's names.
#include <nanobind/nanobind.h>

#include "conv.h"
#include "settings.h"

NB_MODULE(_core, module) {
  convgrad::python::bind_settings(module);
  convgrad::python::bind_conv(module);
}

// convgrad._core: the library's public C++ interface over Python's arrays. The package's other modules give its
// functions TensorFlow's names.
#include <nanobind/nanobind.h>

#include "conv.h"
#include "errors.h"
#include "graph.h"
#include "settings.h"

NB_MODULE(_core, module) {
  using namespace convgrad::python;
  nanobind::set_leak_warnings(false);  // an interpreter may end with plans and graphs alive
  translate_errors();
  bind_settings(module);
  bind_conv(module);
  bind_gradients(module);
  bind_plan(module);
  bind_buffers(module);
  bind_graph(module);
}

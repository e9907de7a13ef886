// Graphs and single ops of the op table as functions and classes of convgrad._core.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arguments.h"
#include "convgrad/geometry.h"
#include "errors.h"
#include "graph.h"
#include "graph_values.h"

namespace convgrad::python {
namespace {

graph::CodeStyle style_from(const std::string& name) {
  using graph::CodeStyle;
  if (name == "cpp") return CodeStyle::cpp_graph;
  if (name == "cpp_eager") return CodeStyle::cpp_eager;
  if (name == "python") return CodeStyle::python_convgrad;
  if (name == "tensorflow") return CodeStyle::python_tensorflow;
  if (name == "graphviz") return CodeStyle::graphviz;
  raise(wrong_type("style", name, "cpp, cpp_eager, python, tensorflow or graphviz"));
}

// Every node as far as it can be known: (id, its refusal or "", outputs).
nb::list infer(const std::string& text) {
  nb::list reports;
  for (const graph::NodeReport& report : graph::infer_page(value_or_raise(graph::parse_page(text)))) {
    nb::list shapes;
    for (const graph::WireInfo& wire : report.outputs)
      shapes.append(nb::make_tuple(nb::str(graph::DataTypeString(wire.dtype).c_str()), object_of(wire.shape)));
    reports.append(nb::make_tuple(nb::str(report.id.c_str()),
                                  nb::str(report.status.ok() ? "" : report.status.message().c_str()), shapes));
  }
  return reports;
}

// A graph of one node, run and forgotten.
nb::list op(const std::string& name, nb::sequence inputs, nb::kwargs attrs) {
  PythonGraph once;
  const nb::list outputs = once.add({name, "", inputs, attrs});
  return once.run(nb::borrow<nb::sequence>(outputs), nb::dict(), nb::none());
}

}  // namespace

void bind_graph(nb::module_& module) {
  nb::class_<GraphOutput>(module, "Output", "One output of a node.")
      .def_prop_ro("name", [](const GraphOutput& o) { return o.output.name(); })
      .def_prop_ro("node", [](const GraphOutput& o) { return o.output.node()->name(); })
      .def_prop_ro("op", [](const GraphOutput& o) { return o.output.node()->type_string(); })
      .def_prop_ro("dtype", [](const GraphOutput& o) { return graph::DataTypeString(o.output.type()); })
      .def_prop_ro("shape",
                   [](const GraphOutput& o) {
                     return object_of(o.output.node()->outputs()[static_cast<std::size_t>(o.output.index())].shape);
                   })
      .def(
          "__eq__",
          [](const GraphOutput& a, nb::handle b) {
            const GraphOutput* other = nullptr;
            return nb::try_cast(b, other) && other != nullptr && a.output == other->output;
          },
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const GraphOutput& o) { return static_cast<std::size_t>(o.output.hash()); });
  nb::class_<PythonGraph>(module, "Graph", "Nodes, and a session whose variables live as long.")
      .def(nb::init<>())
      .def(
          "add",
          [](PythonGraph& g, std::string op, std::string name, nb::sequence inputs, nb::dict attrs) {
            return g.add({std::move(op), std::move(name), inputs, attrs});
          },
          nb::sig("def add(self, op: str, name: str, inputs: collections.abc.Sequence[object], attrs: dict[str, "
                  "object]) -> list[Output]"))
      .def("gradients", &PythonGraph::gradients,
           nb::sig("def gradients(self, outputs: collections.abc.Sequence[Output], inputs: "
                   "collections.abc.Sequence[Output], "
                   "grad_outputs: collections.abc.Sequence[Output]) -> list[Output | None]"))
      .def("run", &PythonGraph::run, nb::arg(), nb::arg(), nb::arg().none(),
           nb::sig("def run(self, fetches: collections.abc.Sequence[Output], feeds: dict[Output, object], progress: "
                   "object, /) -> "
                   "list[typing.Any]"))
      .def("fetched", &PythonGraph::fetched, nb::sig("def fetched(self) -> list[Output]"))
      .def("nodes", &PythonGraph::nodes, nb::sig("def nodes(self) -> list[dict[str, typing.Any]]"))
      .def("outputs_of", &PythonGraph::outputs_of, nb::sig("def outputs_of(self, node: str) -> list[Output]"))
      .def("text", [](const PythonGraph& g) { return value_or_raise(graph::page_text(g.page())); })
      .def(
          "save",
          [](const PythonGraph& g, const std::string& path) { raise_if_error(graph::save_page(g.page(), path)); },
          nb::arg("path"))
      .def(
          "code",
          [](const PythonGraph& g, const std::string& style) {
            return value_or_raise(graph::page_code(g.page(), style_from(style)));
          },
          nb::arg("style"));
  module.def(
      "load_graph",
      [](const std::string& path) { return PythonGraph::from_page(value_or_raise(graph::load_page(path))); },
      nb::arg("path"), nb::rv_policy::take_ownership);
  module.def(
      "parse_graph",
      [](const std::string& text) { return PythonGraph::from_page(value_or_raise(graph::parse_page(text))); },
      nb::arg("text"), nb::rv_policy::take_ownership);
  module.def("infer_page", infer,
             nb::sig("def infer_page(text: str) -> list[tuple[str, str, list[tuple[str, typing.Any]]]]"));
  module.def(
      "op", op,
      nb::sig("def op(name: str, inputs: collections.abc.Sequence[object], /, **attrs: object) -> list[typing.Any]"),
      "One op of the table, run and forgotten.");
  module.def("ops_json", graph::ops_json, "The op table as JSON.");
}

}  // namespace convgrad::python

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

graph::CodeStyle style_from(std::string_view name) {
  using graph::CodeStyle;
  if (name == "cpp") return CodeStyle::cpp_graph;
  if (name == "cpp_eager") return CodeStyle::cpp_eager;
  if (name == "python") return CodeStyle::python_convgrad;
  if (name == "tensorflow") return CodeStyle::python_tensorflow;
  if (name == "graphviz") return CodeStyle::graphviz;
  raise(wrong_type("style", name, "cpp, cpp_eager, python, tensorflow or graphviz"));
}

// None, as in TensorFlow, stands for the op's name.
std::string_view name_from(nb::handle name) { return name.is_none() ? std::string_view() : text_from(name, "name"); }

// Bytes as the system takes them. A null byte would end the path before its end.
std::string path_from(nb::handle path) {
  PyObject* converted = nullptr;
  if (PyUnicode_FSConverter(path.ptr(), &converted) == 0) {
    clear_exception();
    raise(wrong_type("path", object_text(path), "a path of a file, without null characters"));
  }
  const nb::object bytes = nb::steal(converted);
  return {PyBytes_AsString(bytes.ptr()), static_cast<std::size_t>(PyBytes_Size(bytes.ptr()))};
}

// What is iterated over, once.
nb::list listed(nb::handle objects, std::string_view argument) {
  PyObject* const list = PySequence_List(objects.ptr());
  if (list != nullptr) return nb::steal<nb::list>(list);
  clear_exception();
  raise(wrong_type(argument, object_text(objects), "a list"));
}

nb::dict feeds_from(nb::handle feeds) {
  if (!PyDict_Check(feeds.ptr()))
    raise(wrong_type("feeds", object_text(feeds), "arrays by the outputs that they feed"));
  return nb::borrow<nb::dict>(feeds);
}

// Every node as far as it can be known: (id, its refusal or "", outputs).
nb::list infer(nb::handle text) {
  nb::list reports;
  const graph::Page page = value_or_raise(graph::parse_page(text_from(text, "text")));
  for (const graph::NodeReport& report : graph::infer_page(page)) {
    nb::list shapes;
    for (const graph::WireInfo& wire : report.outputs)
      shapes.append(nb::make_tuple(string_of(graph::DataTypeString(wire.dtype)), object_of(wire.shape)));
    reports.append(
        nb::make_tuple(string_of(report.id), string_of(report.status.ok() ? "" : report.status.message()), shapes));
  }
  return reports;
}

// A graph of one node, run and forgotten.
nb::list op(nb::handle name, nb::handle inputs, nb::kwargs attrs) {
  PythonGraph once;
  const nb::list outputs = once.add({std::string(text_from(name, "op")), "", listed(inputs, "inputs"), attrs});
  return once.run(outputs, nb::dict(), nb::none());
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
          nb::arg().none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const GraphOutput& o) { return static_cast<std::size_t>(o.output.hash()); });
  nb::class_<PythonGraph>(module, "Graph", "Nodes, and a session whose variables live as long.")
      .def(nb::init<>())
      .def(
          "add",
          [](PythonGraph& g, nb::handle op, nb::handle name, nb::handle inputs, nb::dict attrs) {
            return g.add(
                {std::string(text_from(op, "op")), std::string(name_from(name)), listed(inputs, "inputs"), attrs});
          },
          nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg(),
          nb::sig("def add(self, op: str, name: str | None, inputs: collections.abc.Sequence[object], attrs: "
                  "dict[str, object], /) -> list[Output]"))
      .def(
          "gradients",
          [](PythonGraph& g, nb::handle outputs, nb::handle inputs, nb::handle grad_outputs) {
            return g.gradients(listed(outputs, "outputs"), listed(inputs, "inputs"),
                               listed(grad_outputs, "grad_outputs"));
          },
          nb::arg().none(), nb::arg().none(), nb::arg().none(),
          nb::sig("def gradients(self, outputs: collections.abc.Sequence[Output], inputs: "
                  "collections.abc.Sequence[Output], "
                  "grad_outputs: collections.abc.Sequence[Output], /) -> list[Output | None]"))
      .def(
          "run",
          [](PythonGraph& g, nb::handle fetches, nb::handle feeds, nb::handle progress) {
            return g.run(listed(fetches, "fetches"), feeds_from(feeds), progress);
          },
          nb::arg().none(), nb::arg().none(), nb::arg().none(),
          nb::sig("def run(self, fetches: collections.abc.Sequence[Output], feeds: dict[Output, object], progress: "
                  "object, /) -> "
                  "list[typing.Any]"))
      .def("fetched", &PythonGraph::fetched, nb::sig("def fetched(self) -> list[Output]"))
      .def("nodes", &PythonGraph::nodes, nb::sig("def nodes(self) -> list[dict[str, typing.Any]]"))
      .def(
          "outputs_of",
          [](PythonGraph& g, nb::handle node) { return g.outputs_of(std::string(text_from(node, "node"))); },
          nb::arg().none(), nb::sig("def outputs_of(self, node: str, /) -> list[Output]"))
      .def("text", [](const PythonGraph& g) { return value_or_raise(graph::page_text(g.page())); })
      .def(
          "save",
          [](const PythonGraph& g, nb::handle path) { raise_if_error(graph::save_page(g.page(), path_from(path))); },
          nb::arg("path").none(), nb::sig("def save(self, path: str | bytes | os.PathLike[str]) -> None"))
      .def(
          "code",
          [](const PythonGraph& g, nb::handle style) {
            return string_of(value_or_raise(graph::page_code(g.page(), style_from(text_from(style, "style")))));
          },
          nb::arg("style").none(), nb::sig("def code(self, style: str) -> str"));
  module.def(
      "load_graph",
      [](nb::handle path) { return PythonGraph::from_page(value_or_raise(graph::load_page(path_from(path)))); },
      nb::arg("path").none(), nb::rv_policy::take_ownership,
      nb::sig("def load_graph(path: str | bytes | os.PathLike[str]) -> Graph"));
  module.def(
      "parse_graph",
      [](nb::handle text) {
        return PythonGraph::from_page(value_or_raise(graph::parse_page(text_from(text, "text"))));
      },
      nb::arg("text").none(), nb::rv_policy::take_ownership, nb::sig("def parse_graph(text: str) -> Graph"));
  module.def("infer_page", infer, nb::arg().none(),
             nb::sig("def infer_page(text: str, /) -> list[tuple[str, str, list[tuple[str, typing.Any]]]]"));
  module.def(
      "op", op, nb::arg().none(), nb::arg().none(), nb::arg("attrs"),
      nb::sig("def op(name: str, inputs: collections.abc.Sequence[object], /, **attrs: object) -> list[typing.Any]"),
      "One op of the table, run and forgotten.");
  module.def("ops_json", graph::ops_json, "The op table as JSON.");
}

}  // namespace convgrad::python

// Graphs for Python: the nodes of a scope, and a session whose variables live as long as the graph.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "convgrad/graph/page.h"
#include "convgrad/graph/session.h"

namespace convgrad::python {

namespace nb = nanobind;

// One output of a node. Keeps its graph alive, as its node lives there.
struct GraphOutput {
  std::shared_ptr<graph::Graph> graph;
  graph::Output output;
};

// A node to add, as Python says it.
struct NodeRequest {
  std::string op;
  std::string name;  // empty: the op's
  nb::list inputs;
  nb::dict attrs;
};

class PythonGraph {
 public:
  PythonGraph() : PythonGraph(graph::Scope::NewRootScope(), {}) {}
  static PythonGraph* from_page(const graph::Page& page);

  nb::list add(const NodeRequest& request);
  nb::list gradients(const nb::list& outputs, const nb::list& inputs, const nb::list& grad_inputs);
  // Fetched tensors; `progress` is None or called with (node, done, total, seconds).
  nb::list run(const nb::list& fetches, nb::dict feeds, nb::handle progress);

  graph::Page page() const;
  nb::list fetched() const;
  nb::list nodes() const;
  nb::list outputs_of(const std::string& node_name) const;

 private:
  PythonGraph(graph::Scope scope, std::vector<graph::Output> fetch);
  // An output of this graph, or a new constant.
  graph::Wire wire_from(nb::handle object, const std::string& constant_name) const;
  graph::Output output_from(nb::handle object) const;
  std::vector<graph::Output> outputs_from(const nb::list& objects) const;
  nb::object wrap(const graph::Output& output) const;

  graph::Scope scope_;
  std::vector<graph::Output> fetch_;
  std::shared_ptr<graph::ClientSession> session_;
};

void bind_graph(nb::module_& module);

}  // namespace convgrad::python

// convgrad grad: the page with the nodes of its gradients.
#include <fmt/core.h>

#include <set>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/pages.h"
#include "convgrad/graph/gradients.h"

namespace convgrad::cli {
namespace {

Result<std::vector<graph::Output>> add_gradients(const graph::PageGraph& graph, const GradRequest& request) {
  const Result<std::vector<graph::Output>> of = find_outputs(graph, request.of, "--of");
  if (!of.ok()) return of.status();
  const Result<std::vector<graph::Output>> wrt = find_outputs(graph, request.wrt, "--wrt");
  if (!wrt.ok()) return wrt.status();
  std::vector<graph::Output> gradients;
  const graph::Status status = graph::AddSymbolicGradients(graph.scope.NewSubScope("gradients"), *of, *wrt, &gradients);
  if (!status.ok()) return status.core();
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i].node() != nullptr) continue;
    return complain({.rule = "graph-gradient",
                     .argument = "--wrt",
                     .reason = fmt::format("no gradient arrives at {}", in_quotes(label((*wrt)[i]))),
                     .got = in_quotes(label((*wrt)[i])),
                     .wanted = "an output that --of depends on by what can be differentiated"});
  }
  return gradients;
}

// Old nodes and wires stay as they were written; what the graph has gained comes after them.
void append_new(graph::Page& page, const graph::Graph& graph) {
  std::set<std::string> old;
  for (const graph::PageNode& node : page.nodes) old.insert(node.id);
  graph::Page whole = graph::page_of(graph);
  for (graph::PageNode& node : whole.nodes) {
    if (!old.contains(node.id)) page.nodes.push_back(std::move(node));
  }
  for (graph::PageEdge& edge : whole.edges) {
    if (!old.contains(edge.to.node)) page.edges.push_back(std::move(edge));
  }
}

}  // namespace

int grad_command(const GradRequest& request) {
  Result<LoadedGraph> loaded = read_graph(request.graph);
  if (!loaded.ok()) return refuse(loaded.status());
  const Result<std::vector<graph::Output>> gradients = add_gradients(loaded->graph, request);
  if (!gradients.ok()) return refuse(gradients.status());
  graph::Page& page = loaded->page;
  append_new(page, *loaded->graph.scope.graph());
  for (const graph::Output& gradient : *gradients)
    page.fetch.push_back({gradient.node()->name(), std::string(pin_name(gradient))});
  return write_page(page, request.out);
}

}  // namespace convgrad::cli

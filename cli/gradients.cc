#include "cli/gradients.h"

#include <fmt/core.h>

#include <set>

#include "cli/answer.h"
#include "cli/pages.h"

namespace convgrad::cli {
namespace {

Status no_gradient(const graph::Output& wrt) {
  return complain({.rule = "graph-gradient",
                   .argument = "wrt",
                   .reason = fmt::format("no gradient arrives at {}", in_quotes(label(wrt))),
                   .got = in_quotes(label(wrt)),
                   .wanted = "an output that those to differentiate depend on by what can be differentiated"});
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

const graph::WireInfo& wire_of(const graph::Output& output) {
  return output.node()->outputs()[static_cast<std::size_t>(output.index())];
}

Result<graph::TensorShape> known_shape(const graph::Output& output) {
  graph::TensorShape shape;
  if (wire_of(output).shape.AsTensorShape(&shape)) return shape;
  return complain({.rule = "graph-shape",
                   .argument = label(output),
                   .reason = fmt::format("the shape of {} is known only when it runs", in_quotes(label(output))),
                   .got = wire_of(output).shape.DebugString(),
                   .wanted = "known sizes, or a tensor by --feed"});
}

Result<graph::Tensor> value_of(const graph::Output& x, const graph::ClientSession::FeedType& feeds) {
  if (const auto fed = feeds.find(x); fed != feeds.end()) return fed->second.tensor;
  if (wire_of(x).value) return *wire_of(x).value;
  const Result<graph::TensorShape> shape = known_shape(x);
  if (!shape.ok()) return shape.status();
  const Result<std::vector<graph::Tensor>> random = graph::random_values({x}, {*shape});
  return random.ok() ? Result<graph::Tensor>(random->front()) : random.status();
}

}  // namespace

Result<std::vector<graph::PagePin>> add_gradients(graph::Page& page, const graph::PageGraph& graph,
                                                  const Derivative& derivative) {
  std::vector<graph::Output> gradients;
  const graph::Scope scope = graph.scope.NewSubScope("gradients");
  const graph::Status status = graph::AddSymbolicGradients(scope, derivative.of, derivative.wrt, &gradients);
  if (!status.ok()) return status.core();
  std::vector<graph::PagePin> pins;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i].node() == nullptr) return no_gradient(derivative.wrt[i]);
    pins.push_back({gradients[i].node()->name(), std::string(pin_name(gradients[i]))});
  }
  append_new(page, *graph.scope.graph());
  return pins;
}

Result<graph::GradientCheck> check_gradients(const graph::PageGraph& graph, const Derivative& derivative,
                                             const graph::ClientSession::FeedType& feeds) {
  std::vector<graph::Tensor> values;
  for (const graph::Output& x : derivative.wrt) {
    const Result<graph::Tensor> value = value_of(x, feeds);
    if (!value.ok()) return value.status();
    values.push_back(*value);
  }
  std::vector<graph::TensorShape> shapes;
  for (const graph::Output& y : derivative.of) {
    const Result<graph::TensorShape> shape = known_shape(y);
    if (!shape.ok()) return shape.status();
    shapes.push_back(*shape);
  }
  return graph::check_gradients(graph.scope, derivative.wrt, values, derivative.of, shapes);
}

}  // namespace convgrad::cli

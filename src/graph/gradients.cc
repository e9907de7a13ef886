// Reverse mode: from the last node to the first, each node's gradients from the sums that have arrived.
#include "convgrad/graph/gradients.h"

#include <map>
#include <set>

#include "api/guard.h"
#include "graph/row.h"

namespace convgrad::graph {
namespace {

Status cannot(string argument, string reason, string got, string wanted) {
  return convgrad::refuse("AddSymbolicGradients", {.rule = Rule::graph_gradient,
                                                   .argument = argument,
                                                   .reason = std::move(reason),
                                                   .got = std::move(got),
                                                   .wanted = std::move(wanted)});
}

using Nodes = std::set<const Node*>;

Nodes ancestors(const std::vector<Output>& outputs) {
  Nodes found;
  std::vector<const Node*> open;
  for (const Output& output : outputs) open.push_back(output.node());
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (!found.insert(node).second) continue;
    for (const Wire& wire : node->inputs()) open.push_back(wire.node);
  }
  return found;
}

// Of `within`, the nodes that depend on one of the inputs, these included.
Nodes dependents(const Graph& graph, const Nodes& within, const std::vector<Output>& inputs) {
  Nodes found;
  for (const Output& input : inputs) {
    if (within.contains(input.node())) found.insert(input.node());
  }
  for (const Node& node : graph.nodes()) {  // inputs come before their readers
    if (!within.contains(&node)) continue;
    for (const Wire& wire : node.inputs()) {
      if (found.contains(wire.node)) found.insert(&node);
    }
  }
  return found;
}

class Backprop {
 public:
  Backprop(const Scope& scope, const std::vector<Output>& outputs, const std::vector<Output>& inputs)
      : scope_(scope), reached_(ancestors(outputs)), between_(dependents(*scope.graph(), reached_, inputs)) {}

  void arrives(const Output& at, const Output& gradient) {
    if (gradient.node() != nullptr) sums_[at.node()][at.index()].push_back(gradient);
  }

  // The sum of what has arrived; NoGradient() when nothing has. Several terms become one AddN, once.
  Output total(const Output& at) {
    const auto node = sums_.find(at.node());
    if (node == sums_.end() || !node->second.contains(at.index())) return NoGradient();
    std::vector<Output>& terms = node->second[at.index()];
    if (terms.size() > 1) terms = {Output(scope_.add("AddN", {terms.begin(), terms.end()}), 0)};
    return terms.front();
  }

  bool reaches(const Output& input) const { return reached_.contains(input.node()); }

  Status run() {
    std::vector<const Node*> order(between_.begin(), between_.end());
    std::sort(order.begin(), order.end(), [](const Node* a, const Node* b) { return a->id() > b->id(); });
    for (const Node* node : order) {
      if (sums_.contains(node)) propagate(*node);
      if (!scope_.ok()) return scope_.status();
    }
    return {};
  }

 private:
  void propagate(const Node& node) {
    std::vector<Output> dy;
    for (int i = 0; i < node.num_outputs(); ++i) dy.push_back(total(Output(const_cast<Node*>(&node), i)));
    if (!scope_.ok() || !reads_between(node)) return;
    const GradientFn rule = row_of(node.op()).gradient;
    if (rule == nullptr) {
      scope_.UpdateStatus(cannot(node.name(), concat("No gradient defined for op: ", node.type_string()),
                                 node.type_string(), "ops that can be differentiated between outputs and inputs"));
      return;
    }
    const std::vector<Output> dx = rule({scope_, node, dy});
    for (std::size_t i = 0; i < dx.size() && i < node.inputs().size(); ++i) {
      const Wire& wire = node.inputs()[i];
      if (between_.contains(wire.node)) arrives(Output(wire.node, wire.index), dx[i]);
    }
  }

  bool reads_between(const Node& node) const {
    for (const Wire& wire : node.inputs()) {
      if (between_.contains(wire.node)) return true;
    }
    return false;
  }

  const Scope& scope_;
  Nodes reached_, between_;
  std::map<const Node*, std::map<int, std::vector<Output>>> sums_;
};

Status all_in_graph(const Scope& scope, const std::vector<Output>& outputs, const string& argument) {
  for (const Output& output : outputs) {
    if (!scope.graph()->contains({output.node(), output.index()}))
      return cannot(argument, concat(argument, " has what is no output of the scope's graph"), output.name(),
                    "outputs of its nodes");
  }
  return {};
}

Status add_gradients(const Scope& scope, const std::vector<Output>& outputs, const std::vector<Output>& inputs,
                     const std::vector<Output>& grad_inputs, std::vector<Output>* grad_outputs) {
  if (!scope.ok()) return scope.status();
  if (grad_outputs == nullptr)
    return cannot("grad_outputs", "there is no list for the gradients", "null", "a vector of outputs");
  if (outputs.size() != grad_inputs.size())
    return cannot("grad_inputs", "Must specify a gradient input for each output.", concat(grad_inputs.size()),
                  concat(outputs.size()));
  for (const auto& [list, name] :
       {std::pair{&outputs, "outputs"}, {&inputs, "inputs"}, {&grad_inputs, "grad_inputs"}}) {
    Status status = all_in_graph(scope, *list, name);
    if (!status.ok()) return status;
  }
  Backprop backprop(scope, outputs, inputs);
  for (const Output& input : inputs) {
    if (backprop.reaches(input)) continue;
    return cannot(input.node()->name(),
                  concat("Cannot compute the partial derivative for node '", input.node()->name(),
                         "' as it's unreachable from the output node(s)."),
                  input.name(), "an input that the outputs depend on");
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) backprop.arrives(outputs[i], grad_inputs[i]);
  Status status = backprop.run();
  if (!status.ok()) return status;
  grad_outputs->clear();
  for (const Output& input : inputs) grad_outputs->push_back(backprop.total(input));
  return scope.status();
}

}  // namespace

Output NodeGradient::x(int index) const {
  const Wire& wire = node.inputs()[static_cast<std::size_t>(index)];
  return Output(wire.node, wire.index);
}

Output NodeGradient::y(int index) const { return Output(const_cast<Node*>(&node), index); }

Output NodeGradient::op(std::string_view name, const std::vector<Input>& inputs, AttrMap attrs) const {
  return Output(scope.add(name, inputs, std::move(attrs)), 0);
}

AttrMap NodeGradient::attrs(std::initializer_list<std::string_view> names) const {
  AttrMap chosen;
  for (std::string_view name : names) chosen.insert(*node.attrs().find(name));
  return chosen;
}

Status AddSymbolicGradients(const Scope& scope, const std::vector<Output>& outputs, const std::vector<Output>& inputs,
                            const std::vector<Output>& grad_inputs, std::vector<Output>* grad_outputs) {
  return guarded([&] { return add_gradients(scope, outputs, inputs, grad_inputs, grad_outputs); });
}

Status AddSymbolicGradients(const Scope& scope, const std::vector<Output>& outputs, const std::vector<Output>& inputs,
                            std::vector<Output>* grad_outputs) {
  return guarded([&]() -> Status {
    if (!scope.ok()) return scope.status();
    Status status = all_in_graph(scope, outputs, "outputs");
    if (!status.ok()) return status;
    std::vector<Output> ones;
    for (const Output& output : outputs) ones.emplace_back(scope.add("OnesLike", {output}), 0);
    return add_gradients(scope, outputs, inputs, ones, grad_outputs);
  });
}

}  // namespace convgrad::graph

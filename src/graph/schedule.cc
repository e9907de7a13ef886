#include "graph/schedule.h"

#include <algorithm>
#include <map>
#include <set>

namespace convgrad::graph {
namespace {

bool is_variable(const Wire& wire) { return wire.node->op().outputs[static_cast<std::size_t>(wire.index)].variable; }

// A node that a run does not need, even where another waits for it: a placeholder that is fed.
bool stands_in(const Request& request, Node* node) {
  for (int i = 0; i < node->num_outputs(); ++i) {
    if (!request.feeds.contains({node, i})) return false;
  }
  return node->num_outputs() > 0 && !node->op().stateful;
}

// All nodes that fetches and targets need, feeds cut off.
std::vector<Node*> needed_nodes(const Request& request) {
  std::set<Node*, bool (*)(const Node*, const Node*)> found(
      [](const Node* a, const Node* b) { return a->id() < b->id(); });
  std::vector<Node*> open(request.targets);
  for (const Wire& wire : request.fetches) {
    if (!request.feeds.contains(wire)) open.push_back(wire.node);
  }
  while (!open.empty()) {
    Node* node = open.back();
    open.pop_back();
    if (stands_in(request, node)) continue;
    if (!found.insert(node).second) continue;
    for (const Wire& wire : node->inputs()) {
      if (!request.feeds.contains(wire)) open.push_back(wire.node);
    }
    open.insert(open.end(), node->control_inputs().begin(), node->control_inputs().end());
  }
  return {found.begin(), found.end()};
}

class Builder {
 public:
  explicit Builder(const Request& request) : request_(request) {
    for (Node* node : needed_nodes(request)) {
      schedule_.step_of.emplace(node, static_cast<int>(schedule_.steps.size()));
      schedule_.steps.push_back({node});
    }
  }

  Schedule build() {
    for (int step = 0; step < static_cast<int>(schedule_.steps.size()); ++step) {
      wait_for_inputs(step);
      keep_variable_order(step);
    }
    for (const Wire& wire : request_.fetches) {
      if (!request_.feeds.contains(wire)) ++at(step_of(wire.node)).readers;
    }
    return std::move(schedule_);
  }

 private:
  Step& at(int step) { return schedule_.steps[static_cast<std::size_t>(step)]; }
  int step_of(const Node* node) const { return schedule_.step_of.at(node); }

  void after(int step, int earlier) {
    std::vector<int>& next = at(earlier).next;
    if (!next.empty() && next.back() == step) return;  // steps are visited in order
    next.push_back(step);
    ++at(step).waits_for;
  }

  void wait_for_inputs(int step) {
    const Node& node = *at(step).node;
    for (const Wire& wire : node.inputs()) {
      if (request_.feeds.contains(wire)) continue;
      ++at(step_of(wire.node)).readers;
      after(step, step_of(wire.node));
    }
    for (const Node* control : node.control_inputs()) {
      const auto found = schedule_.step_of.find(control);
      if (found != schedule_.step_of.end()) after(step, found->second);
    }
  }

  void keep_variable_order(int step) {
    const Node& node = *at(step).node;
    for (std::size_t i = 0; i < node.inputs().size(); ++i) {
      const Wire& wire = node.inputs()[i];
      if (!is_variable(wire) || request_.feeds.contains(wire)) continue;
      Uses& uses = variables_[wire.node];
      if (uses.writer >= 0 && uses.writer != step) after(step, uses.writer);
      const bool writes = i < node.op().inputs.size() && node.op().inputs[i].variable;
      if (!writes) {
        uses.readers.push_back(step);
        continue;
      }
      for (int reader : uses.readers) {
        if (reader != step) after(step, reader);
      }
      uses = {step, {}};
    }
  }

  // Of a variable, by the steps visited so far: the last that writes it, and those that read it since.
  struct Uses {
    int writer = -1;
    std::vector<int> readers = {};
  };
  const Request& request_;
  Schedule schedule_;
  std::map<const Node*, Uses> variables_;
};

}  // namespace

Schedule make_schedule(const Request& request) { return Builder(request).build(); }

}  // namespace convgrad::graph

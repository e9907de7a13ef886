// Which nodes a run needs, and what each waits for.
#pragma once

#include <unordered_map>
#include <vector>

#include "convgrad/graph/node.h"

namespace convgrad::graph {

struct WireHash {
  std::size_t operator()(const Wire& wire) const {
    return std::hash<const void*>()(wire.node) * 31 + static_cast<std::size_t>(wire.index);
  }
};
using Feeds = std::unordered_map<Wire, Tensor, WireHash>;

// A run as it is asked for; everything belongs to the graph.
struct Request {
  Feeds feeds = {};
  std::vector<Wire> fetches = {};
  std::vector<Node*> targets = {};
};

struct Step {
  Node* node;
  std::vector<int> next = {};  // steps that wait for this one
  int waits_for = 0;           // this many steps
  int readers = 0;             // steps and fetches that read its outputs
};

// Steps in an order in which they can run one by one: nodes by id.
//
// Reads and writes of one variable are kept in the order in which their nodes were made, so that a run gives the same
// values however its nodes are spread over threads.
struct Schedule {
  std::vector<Step> steps;
  std::unordered_map<const Node*, int> step_of;
};
Schedule make_schedule(const Request& request);

}  // namespace convgrad::graph

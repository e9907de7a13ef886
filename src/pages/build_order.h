// In which order nodes can be built.
#pragma once

#include <vector>

namespace convgrad::graph {

struct BuildOrder {
  std::vector<int> order = {};                // sources before readers; by number where that is free
  std::vector<std::vector<int>> cycles = {};  // each node's source is the next one, the last one's the first
};

// sources[i] are the nodes that node i waits for. Nodes in a cycle or behind one are not in the order.
BuildOrder build_order(const std::vector<std::vector<int>>& sources);

}  // namespace convgrad::graph

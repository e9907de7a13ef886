#include "pages/build_order.h"

#include <cstddef>
#include <functional>
#include <queue>

namespace convgrad::graph {
namespace {

constexpr int kNone = -1;

std::size_t at(int node) { return static_cast<std::size_t>(node); }

// Kahn's order. waits: how many sources each node still waits for.
std::vector<int> kahn(const std::vector<std::vector<int>>& sources, std::vector<std::size_t>& waits) {
  std::vector<std::vector<int>> readers(sources.size());
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    waits[i] = sources[i].size();
    if (waits[i] == 0) ready.push(static_cast<int>(i));
    for (int source : sources[i]) readers[at(source)].push_back(static_cast<int>(i));
  }
  std::vector<int> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (int reader : readers[at(order.back())]) {
      if (--waits[at(reader)] == 0) ready.push(reader);
    }
  }
  return order;
}

std::vector<int> cycle_from(int first, const std::vector<int>& source) {
  std::vector<int> cycle{first};
  for (int node = source[at(first)]; node != first; node = source[at(node)]) cycle.push_back(node);
  return cycle;
}

// A node that still waits has a source that still waits. Following one of them each, every walk ends in a cycle.
std::vector<std::vector<int>> find_cycles(const std::vector<std::vector<int>>& sources,
                                          const std::vector<std::size_t>& waits) {
  std::vector<int> stuck_source(sources.size(), kNone), walk(sources.size(), kNone);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    for (int source : sources[i]) {
      if (waits[i] > 0 && waits[at(source)] > 0) stuck_source[i] = source;
    }
  }
  std::vector<std::vector<int>> cycles;
  for (std::size_t start = 0; start < sources.size(); ++start) {
    int node = static_cast<int>(start);
    if (waits[start] == 0) continue;
    while (walk[at(node)] == kNone) {
      walk[at(node)] = static_cast<int>(start);
      node = stuck_source[at(node)];
    }
    if (walk[at(node)] == static_cast<int>(start)) cycles.push_back(cycle_from(node, stuck_source));
  }
  return cycles;
}

}  // namespace

BuildOrder build_order(const std::vector<std::vector<int>>& sources) {
  std::vector<std::size_t> waits(sources.size());
  BuildOrder found{.order = kahn(sources, waits)};
  if (found.order.size() < sources.size()) found.cycles = find_cycles(sources, waits);
  return found;
}

}  // namespace convgrad::graph

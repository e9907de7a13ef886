// What a graph's convolutions will cost, before any of them runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/answer.h"
#include "convgrad/graph/node.h"
#include "convgrad/plan.h"

namespace convgrad::cli {

struct PlannedNode {
  const graph::Node* node;
  Result<Plan> plan;  // refused while the shapes are known only when it runs
  std::int64_t tensor_bytes = 0;
};

struct GraphPlan {
  std::vector<PlannedNode> convolutions;
  std::size_t nodes = 0;
  std::int64_t tensor_bytes = 0;     // of all outputs of all nodes, as far as they are known
  std::size_t unknown_outputs = 0;   // those whose shape is not
  std::int64_t workspace_bytes = 0;  // the largest: nodes that run at once need one each
  double cost_us = 0;                // on one core
};

// No value for a node that is no convolution.
Result<std::optional<PlannedNode>> plan_node(const graph::Node& node, const Policy& policy);
Json plan_json(const PlannedNode& planned);

Result<GraphPlan> plan_graph(const graph::Graph& graph, const Policy& policy);
std::string plan_text(const GraphPlan& plan);
Json plan_json(const GraphPlan& plan);

}  // namespace convgrad::cli

// The planner's answer to every convolution of a graph.
#include "cli/graph_plan.h"

#include <fmt/core.h>

#include <algorithm>

namespace convgrad::cli {
namespace {

// No value while a size is not known.
std::optional<std::int64_t> bytes_of(const graph::WireInfo& wire) {
  graph::TensorShape shape;
  const graph::DataTypeInfo* type = graph::data_type_info(wire.dtype);
  if (type == nullptr || !wire.shape.AsTensorShape(&shape)) return std::nullopt;
  return shape.num_elements() * static_cast<std::int64_t>(type->bytes);
}

std::int64_t operand_bytes(const graph::Node& node) {
  std::int64_t bytes = 0;
  for (const graph::Wire& wire : node.inputs())
    bytes += bytes_of(wire.node->outputs()[static_cast<std::size_t>(wire.index)]).value_or(0);
  for (const graph::WireInfo& output : node.outputs()) bytes += bytes_of(output).value_or(0);
  return bytes;
}

void add_outputs(const graph::Node& node, GraphPlan& all) {
  for (const graph::WireInfo& output : node.outputs()) {
    const std::optional<std::int64_t> bytes = bytes_of(output);
    all.tensor_bytes += bytes.value_or(0);
    all.unknown_outputs += bytes ? 0 : 1;
  }
}

void add_plan(PlannedNode planned, GraphPlan& all) {
  if (planned.plan.ok()) {
    all.cost_us += planned.plan->cost_us;
    all.workspace_bytes = std::max(all.workspace_bytes, planned.plan->workspace_bytes);
  }
  all.convolutions.push_back(std::move(planned));
}

std::string node_text(const PlannedNode& planned) {
  std::string text = fmt::format("{} {}\n", printable(planned.node->name()), planned.node->type_string());
  if (!planned.plan.ok()) return text + fmt::format("  not known  {}\n", sentence(planned.plan.status()));
  const Plan& plan = *planned.plan;
  return text + fmt::format(
                    "  problem    {}\n  engine     {}\n  kernel     {}\n  why        {}\n  cost       {:.3g} us on one "
                    "core\n  tensors    {} bytes\n  workspace  {} bytes\n",
                    to_text(problem_of(plan.geometry)), plan.engine, plan.kernel, plan.why, plan.cost_us,
                    planned.tensor_bytes, plan.workspace_bytes);
}

}  // namespace

Result<std::optional<PlannedNode>> plan_node(const graph::Node& node, const Policy& policy) {
  const Result<std::optional<Geometry>> geometry = graph::convolution_of(node);
  if (!geometry.ok()) return std::optional<PlannedNode>({&node, geometry.status()});
  if (!geometry->has_value()) return std::optional<PlannedNode>();
  const Result<Plan> plan = make_plan(**geometry, policy);
  if (!plan.ok()) return plan.status();
  return std::optional<PlannedNode>({&node, *plan, operand_bytes(node)});
}

Result<GraphPlan> plan_graph(const graph::Graph& graph, const Policy& policy) {
  GraphPlan all;
  for (const graph::Node& node : graph.nodes()) {
    ++all.nodes;
    add_outputs(node, all);
    Result<std::optional<PlannedNode>> planned = plan_node(node, policy);
    if (!planned.ok()) return planned.status();
    if (planned->has_value()) add_plan(std::move(**planned), all);
  }
  return all;
}

Json plan_json(const PlannedNode& planned) {
  Json json = {{"node", planned.node->name()}, {"op", planned.node->type_string()}};
  if (!planned.plan.ok()) {
    json.update(status_json(planned.plan.status()));
    return json;
  }
  const Plan& plan = *planned.plan;
  json.update(Json{{"ok", true},
                   {"problem", to_text(problem_of(plan.geometry))},
                   {"engine", plan.engine},
                   {"kernel", plan.kernel},
                   {"why", plan.why},
                   {"cost_us", plan.cost_us},
                   {"tensor_bytes", planned.tensor_bytes},
                   {"workspace_bytes", plan.workspace_bytes}});
  return json;
}

std::string plan_text(const GraphPlan& plan) {
  std::string text;
  for (const PlannedNode& planned : plan.convolutions) text += node_text(planned);
  text += fmt::format(
      "sum\n  nodes      {} with {} convolutions\n  cost       {:.3g} us on one core\n  tensors    {} bytes\n  "
      "workspace  {} bytes at most for one\n",
      plan.nodes, plan.convolutions.size(), plan.cost_us, plan.tensor_bytes, plan.workspace_bytes);
  if (plan.unknown_outputs > 0)
    text += fmt::format("  unknown    {} outputs, whose shapes are known only when they run\n", plan.unknown_outputs);
  return text;
}

Json plan_json(const GraphPlan& plan) {
  Json nodes = Json::array();
  for (const PlannedNode& planned : plan.convolutions) nodes.push_back(plan_json(planned));
  return {{"ok", true},
          {"convolutions", nodes},
          {"nodes", plan.nodes},
          {"cost_us", plan.cost_us},
          {"tensor_bytes", plan.tensor_bytes},
          {"unknown_outputs", plan.unknown_outputs},
          {"workspace_bytes", plan.workspace_bytes}};
}

}  // namespace convgrad::cli

// Graph::add: the checks of the op table, then what the row says of the outputs.
#include "convgrad/graph/node.h"

#include "api/guard.h"
#include "graph/row.h"

namespace convgrad::graph {
namespace {

// The output types that the op table gives: an attribute's, or a fixed one.
DataType type_of_pin(const PinSpec& pin, const AttrMap& attrs) {
  const auto found = attrs.find(pin.type);
  if (found != attrs.end()) return std::get<DataType>(found->second);
  return data_type_from_name(pin.type).value_or(DT_INVALID);
}

convgrad::Status name_is_free(const NodeSpec& spec, bool taken) {
  if (!spec.name.empty() && !taken) return {};
  return convgrad::refuse(spec.op, {.rule = Rule::graph_name,
                                    .argument = "name",
                                    .reason = taken ? "there is a node of that name" : "a node has no name",
                                    .got = concat("'", spec.name, "'"),
                                    .wanted = "a name of its own"});
}

// A pin that wants a variable gets one.
convgrad::Status variables_are(const OpSpec& op, const std::vector<Wire>& inputs) {
  for (std::size_t i = 0; i < std::min(inputs.size(), op.inputs.size()); ++i) {
    const Wire& wire = inputs[i];
    if (!op.inputs[i].variable || wire.node->op().outputs[static_cast<std::size_t>(wire.index)].variable) continue;
    return convgrad::refuse(op.name, {.rule = Rule::graph_variable,
                                      .argument = op.inputs[i].name,
                                      .reason = concat("input '", op.inputs[i].name, "' must be a variable"),
                                      .got = concat("an output of ", wire.node->type_string()),
                                      .wanted = "a Variable"});
  }
  return {};
}

convgrad::Status not_an_input(const NodeSpec& spec, string argument, string got) {
  return convgrad::refuse(spec.op, {.rule = Rule::graph_input,
                                    .argument = argument,
                                    .reason = "an input is no output of a node",
                                    .got = std::move(got),
                                    .wanted = "an output of a node of this graph"});
}

convgrad::Status inputs_exist(const Graph& graph, const NodeSpec& spec) {
  for (const Wire& wire : spec.inputs) {
    if (graph.contains(wire)) continue;
    return not_an_input(spec, "inputs",
                        wire.node == nullptr ? string("nothing") : concat(wire.node->name(), ":", wire.index));
  }
  for (const Node* node : spec.control_inputs) {
    if (node == nullptr || graph.find(node->name()) != node)
      return not_an_input(spec, "control_inputs", node == nullptr ? string("nothing") : node->name());
  }
  return {};
}

}  // namespace

DataType Node::input_type(int index) const {
  if (index < 0 || index >= num_inputs()) return DT_INVALID;
  const Wire& wire = inputs_[static_cast<std::size_t>(index)];
  return wire.node->output_type(wire.index);
}

DataType Node::output_type(int index) const {
  return index < 0 || index >= num_outputs() ? DT_INVALID : outputs_[static_cast<std::size_t>(index)].dtype;
}

Result<std::vector<WireInfo>> infer_outputs(const NodeView& node) {
  Result<Inferred> inferred = row_of(node.op).infer(node);
  if (!inferred.ok()) return inferred.status();
  std::vector<WireInfo> outputs;
  for (std::size_t i = 0; i < node.op.outputs.size(); ++i) {
    outputs.push_back({type_of_pin(node.op.outputs[i], node.attrs), std::move(inferred->shapes[i]), {}});
  }
  if (!outputs.empty()) outputs.front().value = std::move(inferred->value);
  return outputs;
}

Result<Node*> Graph::add(NodeSpec spec) {
  const auto refused = [&](const convgrad::Status& status) { return at_node(status, spec.name); };
  const OpSpec* op = find_graph_op(spec.op);
  if (op == nullptr)
    return refused(convgrad::refuse("graph", {.rule = Rule::op_name,
                                              .argument = "op",
                                              .reason = concat("Op type not registered '", spec.op, "'"),
                                              .got = spec.op,
                                              .wanted = "an op of `convgrad ops`"}));
  convgrad::Status status = name_is_free(spec, by_name_.contains(spec.name));
  if (status.ok()) status = inputs_exist(*this, spec);
  if (status.ok()) status = variables_are(*op, spec.inputs);
  if (!status.ok()) return refused(status);

  std::vector<WireInfo> inputs;
  for (const Wire& wire : spec.inputs) inputs.push_back(wire.node->outputs_[static_cast<std::size_t>(wire.index)]);
  Result<AttrMap> attrs = complete_attrs(*op, std::move(spec.attrs), inputs);
  if (!attrs.ok()) return refused(attrs.status());
  Result<std::vector<WireInfo>> outputs = infer_outputs({*op, *attrs, inputs});
  if (!outputs.ok()) return refused(outputs.status());

  Node& node = nodes_.emplace_back();
  node.id_ = static_cast<int>(nodes_.size()) - 1;
  by_name_.emplace(spec.name, node.id_);
  node.name_ = std::move(spec.name);
  node.device_ = std::move(spec.device);
  node.op_ = op;
  node.inputs_ = std::move(spec.inputs);
  node.control_inputs_ = std::move(spec.control_inputs);
  node.attrs_ = std::move(*attrs);
  node.outputs_ = std::move(*outputs);
  return &node;
}

Node* Graph::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &nodes_[static_cast<std::size_t>(found->second)];
}

bool Graph::contains(const Wire& wire) const {
  const Node* node = wire.node;
  return node != nullptr && node->id() >= 0 && node->id() < static_cast<int>(nodes_.size()) &&
         &nodes_[static_cast<std::size_t>(node->id())] == node && wire.index >= 0 && wire.index < node->num_outputs();
}

Result<std::optional<Geometry>> convolution_of(const Node& node) {
  const GeometryFn geometry = row_of(node.op()).geometry;
  if (geometry == nullptr) return std::optional<Geometry>();
  return guarded([&]() -> Result<std::optional<Geometry>> {
    std::vector<WireInfo> inputs;
    for (const Wire& wire : node.inputs()) inputs.push_back(wire.node->outputs()[static_cast<std::size_t>(wire.index)]);
    const Result<Geometry> found = geometry({node.op(), node.attrs(), inputs});
    if (!found.ok()) return at_node(found.status(), node.name());
    return std::optional<Geometry>(*found);
  });
}

convgrad::Status want_rank(const NodeView& node, int input, int rank) {
  const auto index = static_cast<std::size_t>(input);
  const PartialTensorShape& shape = node.inputs[index].shape;
  if (shape.unknown_rank() || shape.dims() == rank) return {};
  return node.refuse({.rule = Rule::rank,
                      .argument = node.op.inputs[index].name,
                      .reason = concat(node.op.inputs[index].name, " must be ", rank, "-dimensional"),
                      .got = shape.DebugString(),
                      .wanted = concat(rank, " dimensions")});
}

}  // namespace convgrad::graph

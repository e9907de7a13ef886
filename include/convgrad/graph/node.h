// Node and Graph: what a Scope builds and a ClientSession runs.
#ifndef CONVGRAD_GRAPH_NODE_H_
#define CONVGRAD_GRAPH_NODE_H_

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "convgrad/geometry.h"
#include "convgrad/graph/op_table.h"

namespace convgrad::graph {

class Node;

// One output of a node.
struct Wire {
  Node* node = nullptr;
  int index = 0;
  friend bool operator==(const Wire&, const Wire&) = default;
};

// What is known of an output before anything runs.
struct WireInfo {
  DataType dtype = DT_INVALID;
  PartialTensorShape shape = {};
  std::optional<Tensor> value = {};  // of a constant, and of the shape of a known shape
};

// Immutable once it stands in a graph.
class CONVGRAD_API Node {
 public:
  const string& name() const { return name_; }
  const string& type_string() const { return op_->name; }
  const OpSpec& op() const { return *op_; }
  int id() const { return id_; }  // inputs have smaller ones
  const std::vector<Wire>& inputs() const { return inputs_; }
  const std::vector<Node*>& control_inputs() const { return control_inputs_; }
  const AttrMap& attrs() const { return attrs_; }  // all of the op's, defaults included
  const std::vector<WireInfo>& outputs() const { return outputs_; }
  const string& device() const { return device_; }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  DataType input_type(int index) const;
  DataType output_type(int index) const;

 private:
  friend class Graph;
  string name_, device_;
  const OpSpec* op_ = nullptr;
  int id_ = -1;
  std::vector<Wire> inputs_;
  std::vector<Node*> control_inputs_;
  AttrMap attrs_;
  std::vector<WireInfo> outputs_;
};

// A node to be.
struct NodeSpec {
  string name;
  string op;
  std::vector<Wire> inputs = {};
  AttrMap attrs = {};  // those left out take their defaults
  std::vector<Node*> control_inputs = {};
  string device = {};
};

class CONVGRAD_API Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // Checks the op's name, attributes, number and types of inputs and, as far as they are known, shapes.
  // A refusal names the node and, where there is one, the pin.
  Result<Node*> add(NodeSpec spec);

  const std::deque<Node>& nodes() const { return nodes_; }
  Node* find(std::string_view name) const;
  bool contains(const Wire& wire) const;

 private:
  mutable std::deque<Node> nodes_;
  std::map<string, int, std::less<>> by_name_;
};

// The convolution that a node computes, for plans and costs; no value for other ops. Refuses one whose shapes are known
// only when it runs.
CONVGRAD_API Result<std::optional<Geometry>> convolution_of(const Node& node);

}  // namespace convgrad::graph

#endif  // CONVGRAD_GRAPH_NODE_H_

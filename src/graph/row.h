// A row of the op table: the op as its users see it, and what the graph does with it.
#pragma once

#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/rules.h"
#include "base/text.h"
#include "convgrad/graph/gradients.h"
#include "convgrad/graph/op_table.h"
#include "convgrad/graph/scope.h"
#include "convgrad/plan.h"

namespace convgrad::graph {

// A node's attributes and what is known of its inputs: little while a graph is built, everything when it runs.
// The op table has checked names, kinds, number of inputs and types before a row sees them.
struct NodeView {
  const OpSpec& op;
  const AttrMap& attrs;
  std::span<const WireInfo> inputs;

  template <class T>
  const T& attr(std::string_view name) const {
    return std::get<T>(attrs.find(name)->second);
  }
  const std::vector<int64>& integers(std::string_view name) const { return attr<std::vector<int64>>(name); }
  const string& text(std::string_view name) const { return attr<string>(name); }
  bool flag(std::string_view name) const { return attr<bool>(name); }
  double number(std::string_view name) const { return attr<double>(name); }
  DataType type(std::string_view name) const { return attr<DataType>(name); }

  // "<op>: <reason> (<argument>: got <got>, wanted <wanted>)".
  convgrad::Status refuse(Refusal refusal) const { return convgrad::refuse(op.name, std::move(refusal)); }
};

// What can be said of the outputs.
struct Inferred {
  std::vector<PartialTensorShape> shapes;
  std::optional<Tensor> value = {};  // of the first, where it does not depend on elements
};

// The variables of a session, by their nodes. Safe from many threads.
class Variables {
 public:
  // Refuses a variable that has no value yet.
  Result<Tensor> read(const Node& variable) const;
  void write(const Node& variable, const Tensor& value);

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const Node*, Tensor> values_;
};

// One node at work: inputs are there, shapes are those that infer gave.
struct NodeRun {
  const Node& self;
  NodeView node;
  std::span<const Tensor> inputs;  // of a pin that takes a variable: empty
  std::span<const Shape> shapes;   // of the outputs
  const Policy& policy;
  Variables& variables;

  // The variable that a pin takes.
  const Node& variable(std::size_t input = 0) const { return *self.inputs()[input].node; }
};

// Gradients of a node: dy has one entry an output, null where none arrives.
struct NodeGradient {
  const Scope& scope;
  const Node& node;
  std::span<const Output> dy;

  Output x(int index) const;
  Output y(int index = 0) const;
  static const PartialTensorShape& shape(const Output& output) {
    return output.node()->outputs()[static_cast<std::size_t>(output.index())].shape;
  }
  // A new node of the scope's graph; null once the scope has failed.
  Output op(std::string_view name, const std::vector<Input>& inputs, AttrMap attrs = {}) const;
  // This node's values of these attributes, to hand on.
  AttrMap attrs(std::initializer_list<std::string_view> names) const;
};

using InferFn = Result<Inferred> (*)(const NodeView& node);
using GeometryFn = Result<Geometry> (*)(const NodeView& node);
using RunFn = Result<std::vector<Tensor>> (*)(const NodeRun& run);
// One output an input; NoGradient() where there is none.
using GradientFn = std::vector<Output> (*)(const NodeGradient& gradient);

struct OpRow {
  OpSpec spec;
  InferFn infer;
  RunFn run;
  GradientFn gradient = nullptr;  // none: the op cannot be differentiated
  GeometryFn geometry = nullptr;  // of convolutions
};

const OpRow& row_of(const OpSpec& spec);

// All outputs of a node with these attributes and inputs, or why there are none. Attributes must be complete.
Result<std::vector<WireInfo>> infer_outputs(const NodeView& node);
// Every attribute of the op: those given, checked, then defaults; types from the inputs.
Result<AttrMap> complete_attrs(const OpSpec& op, AttrMap given, std::span<const WireInfo> inputs);

// Words for rows of the table.
AttrSpec type_of_inputs(string name, std::vector<DataType> types);
AttrSpec integers(string name, string doc, std::optional<std::vector<int64>> fallback = {});
AttrSpec choice(string name, string doc, std::vector<string> choices, std::optional<string> fallback = {});
AttrSpec flag(string name, string doc, bool fallback);
AttrSpec number(string name, string doc, double fallback);
AttrSpec type(string name, string doc, std::vector<DataType> types, std::optional<DataType> fallback = {});

std::vector<DataType> floating_types();  // half, bfloat16, float, double
std::vector<DataType> number_types();    // and int32, int64

// That input pin has not the rank it must have. Unknown ranks pass.
convgrad::Status want_rank(const NodeView& node, int input, int rank);

}  // namespace convgrad::graph

#include "graph/in_double.h"

#include <map>
#include <set>

#include "graph/convert.h"
#include "graph/row.h"
#include "graph/schedule.h"

namespace convgrad::graph {
namespace {

bool is_floating(DataType dtype) { return dtype == DT_HALF || dtype == DT_BFLOAT16 || dtype == DT_FLOAT; }
DataType widened(DataType dtype) { return is_floating(dtype) ? DT_DOUBLE : dtype; }

// Types in attributes become double; what the inputs decide is left to them.
Result<AttrMap> widened(const Node& node) {
  AttrMap attrs;
  for (const auto& [name, value] : node.attrs()) {
    if (node.op().attr(name)->from_inputs) continue;
    if (const DataType* dtype = std::get_if<DataType>(&value)) {
      attrs.emplace(name, widened(*dtype));
    } else if (const Tensor* tensor = std::get_if<Tensor>(&value)) {
      Result<Tensor> converted = convert(*tensor, widened(tensor->dtype()));
      if (!converted.ok()) return converted.status();
      attrs.emplace(name, *converted);
    } else {
      attrs.emplace(name, value);
    }
  }
  return attrs;
}

class Copy {
 public:
  explicit Copy(const OutputList& xs) {
    for (const Output& x : xs) {
      const WireInfo& known = x.node()->outputs()[static_cast<std::size_t>(x.index())];
      Node* fed = made_.scope.add("Placeholder", {}, {{"dtype", widened(known.dtype)}, {"shape", known.shape}});
      copies_[{x.node(), x.index()}] = {fed, 0};
      made_.xs.emplace_back(fed, 0);
    }
  }

  Result<DoubleCopy> build(const OutputList& ys) {
    Request request;
    for (const auto& [wire, copy] : copies_) request.feeds.emplace(wire, Tensor());
    for (const Output& y : ys) request.fetches.push_back({y.node(), y.index()});
    for (const Step& step : make_schedule(request).steps) CONVGRAD_RETURN_IF_ERROR(add(*step.node));
    for (const Output& y : ys) {
      const Wire wire = copies_.at({y.node(), y.index()});
      made_.ys.emplace_back(wire.node, wire.index);
    }
    return made_;
  }

 private:
  convgrad::Status add(Node& node) {
    std::vector<Input> inputs;
    for (const Wire& wire : node.inputs()) {
      const Wire copy = copies_.at(wire);
      inputs.emplace_back(Output(copy.node, copy.index));
    }
    Result<AttrMap> attrs = widened(node);
    if (!attrs.ok()) return attrs.status();
    Node* copy = made_.scope.add(node.type_string(), inputs, std::move(*attrs));
    if (copy == nullptr) return made_.scope.status().core();
    for (int i = 0; i < node.num_outputs(); ++i) copies_.try_emplace({&node, i}, Wire{copy, i});
    return {};
  }

  struct Before {
    bool operator()(const Wire& a, const Wire& b) const {
      return a.node->id() != b.node->id() ? a.node->id() < b.node->id() : a.index < b.index;
    }
  };
  DoubleCopy made_{Scope::NewRootScope(), {}, {}};
  std::map<Wire, Wire, Before> copies_;
};

}  // namespace

Result<DoubleCopy> in_double(const OutputList& xs, const OutputList& ys) { return Copy(xs).build(ys); }

}  // namespace convgrad::graph

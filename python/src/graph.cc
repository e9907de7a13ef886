#include "graph.h"

#include <algorithm>
#include <exception>

#include "arguments.h"
#include "convgrad/geometry.h"
#include "convgrad/graph/gradients.h"
#include "errors.h"
#include "graph_values.h"
#include "interpreter_lock.h"
#include "running.h"
#include "settings.h"

namespace convgrad::python {
namespace {

graph::AttrMap attrs_from(const graph::OpSpec& op, const nb::dict& given) {
  graph::AttrMap attrs;
  for (const auto& [key, value] : given) {
    const std::string_view name = text_from(key, "attribute");
    const auto spec = std::find_if(op.attrs.begin(), op.attrs.end(), [&](const auto& row) { return row.name == name; });
    if (spec == op.attrs.end())
      raise(wrong_type(name, "an attribute that " + op.name + " has not", "one of its attributes"));
    const bool left_out = value.is_none() && spec->fallback && spec->kind != graph::AttrKind::shape;
    if (!left_out) attrs.emplace(std::string(name), attr_from(value, *spec));
  }
  const auto value = attrs.find("value");  // a constant's type, which its value tells
  if (op.name == "Const" && value != attrs.end())
    attrs.try_emplace("dtype", std::get<graph::Tensor>(value->second).dtype());
  return attrs;
}

// A callback of Python's, called from the library's threads. Its first exception ends the run.
class Progress {
 public:
  Progress(nb::handle callback, std::atomic<bool>& stop) : callback_(callback), stop_(stop) {}

  void tell(const graph::RunProgress& now) {
    const TakenLock lock;
    if (failure_ != nullptr) return;
    try {
      callback_(string_of(now.node->name()), now.done, now.total, now.seconds);
    } catch (...) {
      failure_ = std::current_exception();
      stop_ = true;
    }
  }
  void raise_failure() const {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

 private:
  nb::handle callback_;
  std::atomic<bool>& stop_;
  std::exception_ptr failure_;
};

nb::dict node_facts(const graph::Node& node) {
  nb::dict facts, attrs;
  nb::list inputs, outputs;
  for (const graph::Wire& wire : node.inputs()) inputs.append(nb::make_tuple(string_of(wire.node->name()), wire.index));
  for (std::size_t i = 0; i < node.outputs().size(); ++i) {
    const graph::WireInfo& wire = node.outputs()[i];
    outputs.append(nb::make_tuple(string_of(node.op().outputs[i].name), string_of(graph::DataTypeString(wire.dtype)),
                                  object_of(wire.shape)));
  }
  for (const auto& [name, value] : node.attrs()) attrs[string_of(name)] = object_of(value);
  facts["name"] = string_of(node.name());
  facts["op"] = string_of(node.type_string());
  facts["inputs"] = inputs;
  facts["outputs"] = outputs;
  facts["attrs"] = attrs;
  return facts;
}

}  // namespace

PythonGraph::PythonGraph(graph::Scope scope, std::vector<graph::Output> fetch)
    : scope_(std::move(scope)),
      fetch_(std::move(fetch)),
      session_(std::make_shared<graph::ClientSession>(scope_, graph::SessionOptions{current_policy()})) {}

PythonGraph* PythonGraph::from_page(const graph::Page& page) {
  graph::PageGraph built = value_or_raise(graph::build_page(page));
  return new PythonGraph(std::move(built.scope), std::move(built.fetch));
}

nb::object PythonGraph::wrap(const graph::Output& output) const {
  return output.node() == nullptr ? nb::none() : nb::cast(GraphOutput{scope_.graph_as_shared_ptr(), output});
}

graph::Output PythonGraph::output_from(nb::handle object) const {
  const GraphOutput* wrapped = nullptr;
  if (!nb::try_cast(object, wrapped) || wrapped == nullptr || wrapped->graph.get() != scope_.graph())
    raise(wrong_type("output", type_of(object), "an output of this graph"));
  return wrapped->output;
}

std::vector<graph::Output> PythonGraph::outputs_from(const nb::list& objects) const {
  std::vector<graph::Output> outputs;
  for (nb::handle object : objects) outputs.push_back(output_from(object));
  return outputs;
}

graph::Wire PythonGraph::wire_from(nb::handle object, const std::string& constant_name) const {
  if (nb::isinstance<GraphOutput>(object)) {
    const graph::Output output = output_from(object);
    return {output.node(), output.index()};
  }
  const graph::Tensor value = graph_tensor_from(object, "input");
  graph::NodeSpec spec{.name = scope_.GetUniqueNameForOp(constant_name), .op = "Const"};
  spec.attrs = {{"value", value}, {"dtype", value.dtype()}};
  return {value_or_raise(scope_.graph()->add(std::move(spec))), 0};
}

// Not by Scope::add, for a scope keeps its first error for good.
nb::list PythonGraph::add(const NodeRequest& request) {
  const graph::OpSpec* op = graph::find_graph_op(request.op);
  if (op == nullptr) raise(wrong_type("op", request.op, "the name of an op of the table"));
  graph::NodeSpec spec{.name = scope_.GetUniqueNameForOp(request.name.empty() ? request.op : request.name),
                       .op = request.op,
                       .attrs = attrs_from(*op, request.attrs)};
  for (nb::handle input : request.inputs) {
    const std::size_t pin = std::min(spec.inputs.size(), op->inputs.empty() ? 0 : op->inputs.size() - 1);
    spec.inputs.push_back(wire_from(input, spec.name + "/" + (op->inputs.empty() ? "input" : op->inputs[pin].name)));
  }
  return outputs_of(value_or_raise(scope_.graph()->add(std::move(spec)))->name());
}

nb::list PythonGraph::gradients(const nb::list& outputs, const nb::list& inputs, const nb::list& grad_inputs) {
  const std::vector<graph::Output> ys = outputs_from(outputs), xs = outputs_from(inputs);
  const std::vector<graph::Output> seeds = outputs_from(grad_inputs);
  std::vector<graph::Output> gradients;
  const graph::Status status = seeds.empty() ? graph::AddSymbolicGradients(scope_, ys, xs, &gradients)
                                             : graph::AddSymbolicGradients(scope_, ys, xs, seeds, &gradients);
  raise_if_error(status.core());
  nb::list made;
  for (const graph::Output& gradient : gradients) made.append(wrap(gradient));
  return made;
}

nb::list PythonGraph::run(const nb::list& fetches, nb::dict feeds, nb::handle progress) {
  const std::vector<graph::Output> wanted = outputs_from(fetches);
  graph::ClientSession::FeedType fed;
  for (const auto& [output, value] : feeds) fed.emplace(output_from(output), graph_tensor_from(value, "feed"));
  std::atomic<bool> stop = false;
  Progress told(progress, stop);
  std::vector<graph::Tensor> tensors;
  const Work work = [&](const Policy& policy) -> Status {
    graph::RunOptions options{.cancel = policy.cancel};
    if (!progress.is_none()) options.progress = [&](const graph::RunProgress& now) { told.tell(now); };
    return session_->Run(options, fed, wanted, {}, &tensors, nullptr).core();
  };
  const Status status = run_watched(work, current_policy(), stop);
  told.raise_failure();
  raise_if_error(status);
  nb::list results;
  for (const graph::Tensor& tensor : tensors) results.append(ndarray_of(tensor));
  return results;
}

graph::Page PythonGraph::page() const {
  graph::Page page = graph::page_of(*scope_.graph());
  for (const graph::Output& output : fetch_)
    page.fetch.push_back(
        {output.node()->name(), output.node()->op().outputs[static_cast<std::size_t>(output.index())].name});
  return page;
}

nb::list PythonGraph::fetched() const {
  nb::list outputs;
  for (const graph::Output& output : fetch_) outputs.append(wrap(output));
  return outputs;
}

nb::list PythonGraph::nodes() const {
  nb::list all;
  for (const graph::Node& node : scope_.graph()->nodes()) all.append(node_facts(node));
  return all;
}

nb::list PythonGraph::outputs_of(const std::string& node_name) const {
  graph::Node* node = scope_.graph()->find(node_name);
  if (node == nullptr) raise(wrong_type("node", node_name, "the name of a node of this graph"));
  nb::list outputs;
  for (int i = 0; i < node->num_outputs(); ++i) outputs.append(wrap(graph::Output(node, i)));
  return outputs;
}

}  // namespace convgrad::python

// ClientSession: a request from feeds and fetches, checked, then executed.
#include "convgrad/graph/session.h"

#include "api/guard.h"
#include "graph/executor.h"

namespace convgrad::graph {
namespace {

convgrad::Status not_here(std::string_view what, const Output& output) {
  return convgrad::refuse("ClientSession",
                          {.rule = Rule::graph_fetch,
                           .argument = what,
                           .reason = concat("what is to be ", what, " is no output of this session's graph"),
                           .got = output.node() == nullptr ? string("nothing") : output.name(),
                           .wanted = "an output of a node of the scope"});
}

Status nothing_asked() {
  return {Code::kInvalidArgument,
          convgrad::refuse("ClientSession", {.rule = Rule::graph_fetch,
                                             .argument = "fetch_outputs",
                                             .reason = "Must specify at least one target to fetch or execute.",
                                             .got = "nothing",
                                             .wanted = "an output to fetch, or an operation to run"})};
}

convgrad::Status check_feed(const Wire& wire, const Tensor& value) {
  const WireInfo& known = wire.node->outputs()[static_cast<std::size_t>(wire.index)];
  const string name = concat(wire.node->name(), ":", wire.index);
  CONVGRAD_RETURN_IF_ERROR(value.check_memory());
  if (value.dtype() == known.dtype && known.shape.IsCompatibleWith(value.shape())) return {};
  return at_node(
      convgrad::refuse("ClientSession", {.rule = Rule::graph_feed,
                                         .argument = wire.node->name(),
                                         .reason = concat("the tensor fed to '", name, "' has another type or shape"),
                                         .got = concat(DataTypeString(value.dtype()), value.shape().DebugString()),
                                         .wanted = concat(DataTypeString(known.dtype), known.shape.DebugString())}),
      wire.node->name());
}

}  // namespace

Result<Tensor> Variables::read(const Node& variable) const {
  const std::lock_guard lock(mutex_);
  const auto found = values_.find(&variable);
  if (found != values_.end()) return found->second;
  return convgrad::refuse("Variable", {.rule = Rule::graph_variable,
                                       .argument = variable.name(),
                                       .reason = concat("Attempting to use uninitialized value ", variable.name()),
                                       .got = "no value",
                                       .wanted = "an Assign that was run before"});
}

void Variables::write(const Node& variable, const Tensor& value) {
  const std::lock_guard lock(mutex_);
  values_.insert_or_assign(&variable, value);
}

struct ClientSession::Impl {
  Scope scope;
  SessionOptions options;
  Variables variables = {};

  Result<Request> request(const FeedType& inputs, const std::vector<Output>& fetches,
                          const std::vector<Operation>& targets) const {
    const Graph& graph = *scope.graph();
    Request made;
    for (const auto& [output, value] : inputs) {
      const Wire wire{output.node(), output.index()};
      if (!value.status.ok()) return value.status.core();
      if (!graph.contains(wire)) return not_here("fed", output);
      CONVGRAD_RETURN_IF_ERROR(check_feed(wire, value.tensor));
      made.feeds.emplace(wire, value.tensor);
    }
    for (const Output& output : fetches) {
      const Wire wire{output.node(), output.index()};
      if (!graph.contains(wire)) return not_here("fetched", output);
      made.fetches.push_back(wire);
    }
    for (const Operation& operation : targets) {
      if (operation.node() == nullptr || graph.find(operation.node()->name()) != operation.node())
        return not_here("run", Output(operation, 0));
      made.targets.push_back(operation.node());
    }
    return made;
  }
};

ClientSession::ClientSession(const Scope& scope) : ClientSession(scope, SessionOptions{}) {}
ClientSession::ClientSession(const Scope& scope, const string&) : ClientSession(scope, SessionOptions{}) {}
ClientSession::ClientSession(const Scope& scope, const SessionOptions& options)
    : impl_(new Impl{.scope = scope, .options = options}) {}
ClientSession::~ClientSession() = default;

Status ClientSession::Run(const std::vector<Output>& fetch_outputs, std::vector<Tensor>* outputs) const {
  return Run(FeedType{}, fetch_outputs, {}, outputs);
}
Status ClientSession::Run(const FeedType& inputs, const std::vector<Output>& fetch_outputs,
                          std::vector<Tensor>* outputs) const {
  return Run(inputs, fetch_outputs, {}, outputs);
}
Status ClientSession::Run(const FeedType& inputs, const std::vector<Output>& fetch_outputs,
                          const std::vector<Operation>& run_outputs, std::vector<Tensor>* outputs) const {
  return Run(RunOptions{}, inputs, fetch_outputs, run_outputs, outputs, nullptr);
}

Status ClientSession::Run(const RunOptions& run_options, const FeedType& inputs,
                          const std::vector<Output>& fetch_outputs, const std::vector<Operation>& run_outputs,
                          std::vector<Tensor>* outputs, RunMetadata* run_metadata) const {
  if (!impl_->scope.ok()) return impl_->scope.status();
  if (fetch_outputs.empty() && run_outputs.empty()) return nothing_asked();
  Result<std::vector<Tensor>> tensors = guarded([&]() -> Result<std::vector<Tensor>> {
    const Result<Request> request = impl_->request(inputs, fetch_outputs, run_outputs);
    if (!request.ok()) return request.status();
    return execute(*request, {impl_->options.policy, impl_->variables, run_options, run_metadata});
  });
  if (!tensors.ok()) return tensors.status();
  if (outputs != nullptr) *outputs = std::move(*tensors);
  return {};
}

}  // namespace convgrad::graph

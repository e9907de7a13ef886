// Scope: names, the shared status, and nodes added under them.
#include "convgrad/graph/scope.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <unordered_map>

#include "base/text.h"
#include "convgrad/graph/const_op.h"

namespace convgrad::graph {
namespace {

// Names used so far, with the last number that was put behind each.
using Names = std::unordered_map<string, int>;

// name, name_1, name_2, ...: the first that is free.
string unique_name(Names& used, const string& name) {
  const auto [entry, fresh] = used.try_emplace(name, 0);
  if (fresh) return name;
  int& last = entry->second;  // stays where it is while the map grows
  string numbered;
  do numbered = concat(name, "_", ++last);
  while (used.contains(numbered));
  used.emplace(numbered, 0);
  return numbered;
}

}  // namespace

struct Scope::Impl {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  std::shared_ptr<Status> status = std::make_shared<Status>();
  std::shared_ptr<Names> names = std::make_shared<Names>();
  string prefix = {}, op_name = {}, device = {};
  std::vector<Operation> control = {};
  bool exit_on_error = false;

  string full(const string& name) const { return prefix.empty() ? name : concat(prefix, "/", name); }
};

Scope::Scope(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Scope::Scope(const Scope&) = default;
Scope& Scope::operator=(const Scope&) = default;
Scope::~Scope() = default;

Scope Scope::NewRootScope() { return Scope(std::make_shared<Impl>()); }

Scope Scope::NewSubScope(const string& child) const {
  auto derived = std::make_shared<Impl>(*impl_);
  derived->op_name.clear();
  if (!child.empty()) {
    derived->prefix = impl_->full(unique_name(*impl_->names, child));
    derived->names = std::make_shared<Names>();
  }
  return Scope(std::move(derived));
}

string Scope::part(double number) {
  char text[40];
  return string(text, std::to_chars(text, std::end(text), number, std::chars_format::general, 6).ptr);
}

Scope Scope::with_op_name(const string& name) const {
  auto derived = std::make_shared<Impl>(*impl_);
  derived->op_name = name;
  return Scope(std::move(derived));
}

Scope Scope::WithControlDependencies(const gtl::ArraySlice<Operation>& operations) const {
  auto derived = std::make_shared<Impl>(*impl_);
  derived->control.insert(derived->control.end(), operations.begin(), operations.end());
  return Scope(std::move(derived));
}

Scope Scope::WithControlDependencies(const Output& output) const {
  return WithControlDependencies(gtl::ArraySlice<Operation>{output.op()});
}

Scope Scope::WithNoControlDependencies() const {
  auto derived = std::make_shared<Impl>(*impl_);
  derived->control.clear();
  return Scope(std::move(derived));
}

Scope Scope::WithDevice(const string& device) const {
  auto derived = std::make_shared<Impl>(*impl_);
  derived->device = device;
  return Scope(std::move(derived));
}

Scope Scope::ExitOnError() const {
  auto derived = std::make_shared<Impl>(*impl_);
  derived->exit_on_error = true;
  return Scope(std::move(derived));
}

bool Scope::ok() const { return impl_->status->ok(); }
Status Scope::status() const { return *impl_->status; }

void Scope::UpdateStatus(const Status& status) const {
  impl_->status->Update(status);
  if (!impl_->exit_on_error || ok()) return;
  std::fprintf(stderr, "%s\n", impl_->status->ToString().c_str());  // what the caller asked for
  std::abort();
}

string Scope::GetUniqueNameForOp(const string& default_name) const {
  return impl_->full(unique_name(*impl_->names, impl_->op_name.empty() ? default_name : impl_->op_name));
}

Graph* Scope::graph() const { return impl_->graph.get(); }
std::shared_ptr<Graph> Scope::graph_as_shared_ptr() const { return impl_->graph; }

Node* Scope::add(std::string_view op, const std::vector<Input>& inputs, AttrMap attrs) const {
  if (!ok()) return nullptr;
  NodeSpec spec{.name = {}, .op = string(op), .attrs = std::move(attrs), .device = impl_->device};
  for (const Input& input : inputs) {
    const Output output = ops::AsOutput(*this, input);
    if (!ok()) return nullptr;
    spec.inputs.push_back({output.node(), output.index()});
  }
  for (const Operation& operation : impl_->control) spec.control_inputs.push_back(operation.node());
  spec.name = GetUniqueNameForOp(spec.op);
  Result<Node*> node = impl_->graph->add(std::move(spec));
  if (node.ok()) return *node;
  UpdateStatus(node.status());
  return nullptr;
}

}  // namespace convgrad::graph

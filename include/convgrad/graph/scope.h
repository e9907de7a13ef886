// Scope: a cheap handle on the graph being built, its names and its first error.
#ifndef CONVGRAD_GRAPH_SCOPE_H_
#define CONVGRAD_GRAPH_SCOPE_H_

#include <memory>
#include <string>
#include <vector>

#include "convgrad/graph/input.h"

namespace convgrad::graph {

// Derived scopes share graph and status. Not thread-safe; sessions are.
class CONVGRAD_API Scope {
 public:
  Scope(const Scope&);
  Scope& operator=(const Scope&);
  ~Scope();
  static Scope NewRootScope();

  // Names get the prefix "child/", made unique; "" keeps the prefix and its names.
  Scope NewSubScope(const string& child) const;
  // The name of the next ops, its parts joined; made unique.
  template <class... Parts>
  Scope WithOpName(Parts... parts) const {
    string name;
    ((name += part(parts)), ...);
    return with_op_name(name);
  }
  // The next ops run after these.
  Scope WithControlDependencies(const gtl::ArraySlice<Operation>& operations) const;
  Scope WithControlDependencies(const Output& output) const;
  Scope WithNoControlDependencies() const;
  // Kept with the nodes; there is one kind of device here.
  Scope WithDevice(const string& device) const;
  // Ends the process with the message at the first error from here on.
  Scope ExitOnError() const;

  bool ok() const;
  Status status() const;
  // The first error is the one that stays.
  void UpdateStatus(const Status& status) const;
  string GetUniqueNameForOp(const string& default_name) const;
  Graph* graph() const;
  std::shared_ptr<Graph> graph_as_shared_ptr() const;

  // Adds a node under this scope's name for it, with its control dependencies. No node and a bad status when it is
  // refused, or when the scope was bad before.
  Node* add(std::string_view op, const std::vector<Input>& inputs, AttrMap attrs = {}) const;

 private:
  struct Impl;
  explicit Scope(std::shared_ptr<const Impl> impl);
  Scope with_op_name(const string& name) const;
  static string part(std::string_view text) { return string(text); }
  static string part(double number);
  template <class Number, class = std::enable_if_t<std::is_integral_v<Number>>>
  static string part(Number number) {
    return std::to_string(number);
  }
  std::shared_ptr<const Impl> impl_;
};

}  // namespace convgrad::graph

#endif  // CONVGRAD_GRAPH_SCOPE_H_

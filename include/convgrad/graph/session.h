// ClientSession: runs the graph of a scope.
#ifndef CONVGRAD_GRAPH_SESSION_H_
#define CONVGRAD_GRAPH_SESSION_H_

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "convgrad/graph/scope.h"
#include "convgrad/plan.h"

namespace convgrad::graph {

// What a run tells while it goes: the node that is done, and how many of how many are.
struct RunProgress {
  const Node* node = nullptr;
  int done = 0;
  int total = 0;
  double seconds = 0;  // that this node took
};

struct SessionOptions {
  Policy policy = {};  // threads, engine, limits, math and cancel flag of every run
};
struct RunOptions {
  const std::atomic<bool>* cancel = nullptr;              // looked at between nodes and inside the long ones
  std::function<void(const RunProgress&)> progress = {};  // called from one thread at a time
};
struct RunMetadata {
  std::vector<std::pair<string, double>> seconds = {};  // of every node that ran, in the order they ended
};

// Variables live as long as the session. Run may be called from several threads at once.
class CONVGRAD_API ClientSession {
 public:
  // What stands in for outputs, of placeholders or any other node.
  using FeedType = std::unordered_map<Output, Input::Initializer, OutputHash>;

  explicit ClientSession(const Scope& scope);
  ClientSession(const Scope& scope, const string& target);
  ClientSession(const Scope& scope, const SessionOptions& options);
  ~ClientSession();
  ClientSession(const ClientSession&) = delete;
  ClientSession& operator=(const ClientSession&) = delete;

  // One tensor a fetch, in their order; outputs may be null. Everything that was added to the scope before the call
  // can be fetched. A scope that has failed answers with its status.
  Status Run(const std::vector<Output>& fetch_outputs, std::vector<Tensor>* outputs) const;
  Status Run(const FeedType& inputs, const std::vector<Output>& fetch_outputs, std::vector<Tensor>* outputs) const;
  Status Run(const FeedType& inputs, const std::vector<Output>& fetch_outputs,
             const std::vector<Operation>& run_outputs, std::vector<Tensor>* outputs) const;
  Status Run(const RunOptions& run_options, const FeedType& inputs, const std::vector<Output>& fetch_outputs,
             const std::vector<Operation>& run_outputs, std::vector<Tensor>* outputs, RunMetadata* run_metadata) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace convgrad::graph

#endif  // CONVGRAD_GRAPH_SESSION_H_

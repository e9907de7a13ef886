// One run of a page, node by node: a wrong node stops only those that need it, each node's time is known, and what the
// cache has is not computed. Nodes that depend on variables are run in every step of a loop, the others once.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "convgrad/graph/page.h"
#include "convgrad/graph/session.h"
#include "studio/server/budgets.h"
#include "studio/server/result_cache.h"

namespace convgrad::studio {

struct RunRequest {
  graph::Page page;
  std::string engine = {};                                // by name; empty: the cheapest for each block
  std::optional<std::vector<graph::PagePin>> fetch = {};  // what is needed; none: every node
  std::int64_t steps = 1;
  std::vector<graph::PagePin> watch = {};  // first elements that every step reports
};

// How a run speaks and listens.
struct RunSurroundings {
  Budgets budgets;
  ResultCache& cache;
  const std::atomic<bool>& stopped;
  std::function<void(const char* event, const Json& data)> tell;
  std::function<void()> pause = {};  // called between nodes
};

class PageRun {
 public:
  // Refuses a page that cannot be built even without its wrong nodes.
  static Result<std::shared_ptr<PageRun>> prepare(RunRequest request);

  // The data of `done`, without its reason when the run was stopped from outside.
  Json go(const RunSurroundings& around);

  // Refuses what has no value (yet).
  Result<graph::Tensor> tensor(const graph::PagePin& pin) const;
  // Of an output that has a tensor.
  Json stats(const graph::PagePin& pin);
  // The node as it stands in the graph; null when it is wrong or missing.
  const graph::Node* node(const std::string& id) const;
  // That computed the value of a node of the run; empty when it is no convolution.
  std::string engine(const std::string& id);

 private:
  struct State {
    graph::Node* node = nullptr;
    bool moving = false;    // it depends on a variable
    bool starting = false;  // an Assign of a starting value: once, before the first step
    Status status = {};
    std::vector<graph::Tensor> outputs = {};
    std::optional<NodeKey> key = {};
    double seconds = 0;
    bool reused = false;
    Json described = {};
    std::string engine = {};  // known once it is described
  };

  void find_needed();
  Status build();
  void find_moving();

  void report_wrong(const RunSurroundings& around) const;
  void run_states(const RunSurroundings& around, const std::function<bool(const State&)>& which, bool tell);
  void run_node(State& state, const RunSurroundings& around);
  Status inputs_ready(const State& state) const;
  Status fits_memory(const State& state, const RunSurroundings& around);
  Status compute(State& state);
  void describe(State& state);
  void tell_node(const State& state, const RunSurroundings& around) const;
  Json step_json(std::int64_t step) const;
  void run_steps(const RunSurroundings& around);
  Json done_json(const RunSurroundings& around, double seconds) const;
  const State* state_of(const graph::Node* node) const;

  explicit PageRun(RunRequest request) : request_(std::move(request)) {}

  RunRequest request_;
  std::set<std::string> needed_;
  std::map<std::string, Status> wrong_;
  std::optional<graph::PageGraph> graph_;  // without control wires: the order of states_ has them
  std::vector<State> states_;              // in the order in which they run
  std::map<std::string, std::size_t> by_id_;
  Policy policy_;  // the session's
  std::unique_ptr<graph::ClientSession> session_;
  std::int64_t live_bytes_ = 0, peak_bytes_ = 0;
  std::int64_t steps_done_ = 0;
  bool out_of_memory_ = false;
};

}  // namespace convgrad::studio

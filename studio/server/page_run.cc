#include "studio/server/page_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "cli/graph_plan.h"
#include "cli/inferred.h"
#include "studio/server/clock.h"
#include "studio/server/tensors.h"

namespace convgrad::studio {
namespace {

using graph::Node;
using graph::PagePin;

constexpr std::int64_t kHead = 8;                    // elements that an event shows
constexpr std::chrono::milliseconds kStepPause{50};  // between two events of steps

bool is_control(const graph::PageEdge& edge) { return edge.from.pin == "^"; }

bool is_variable(const graph::Wire& wire) {
  return wire.node->op().outputs[static_cast<std::size_t>(wire.index)].variable;
}

bool is_variable(const Node& node) { return node.num_outputs() > 0 && node.op().outputs.front().variable; }

// Bytes of the outputs as far as shapes are known before the run.
std::int64_t planned_bytes(const Node& node) {
  double bytes = 0;  // beyond 64 bits, too
  for (const graph::WireInfo& output : node.outputs()) {
    if (!output.shape.IsFullyDefined()) continue;
    double elements = 1;
    for (const std::int64_t size : output.shape.sizes()) elements *= static_cast<double>(size);
    bytes += elements * graph::DataTypeSize(output.dtype);
  }
  return bytes < 0x1p62 ? static_cast<std::int64_t>(bytes) : std::int64_t{1} << 62;
}

// Of a node that a session has computed: its plan was made of the same geometry and policy, and runs go by their plan.
std::string engine_of(const Node& node, const Policy& policy) {
  const Result<std::optional<cli::PlannedNode>> planned = cli::plan_node(node, policy);
  const bool is_planned = planned.ok() && planned->has_value() && (*planned)->plan.ok();
  return is_planned ? (*planned)->plan->engine : std::string();
}

Status waits_for(const std::string& id, const Node& source) {
  return Status(
      ErrorDetail{.code = StatusCode::invalid_argument,
                  .message = fmt::format("it waits for {}, which has no value", cli::in_quotes(source.name())),
                  .argument = "inputs",
                  .got = cli::in_quotes(source.name()),
                  .wanted = "a block with a value",
                  .rule = "graph-input",
                  .node = id});
}

}  // namespace

Result<std::shared_ptr<PageRun>> PageRun::prepare(RunRequest request) {
  const std::shared_ptr<PageRun> run(new PageRun(std::move(request)));
  run->find_needed();
  CONVGRAD_RETURN_IF_ERROR(run->build());
  run->find_moving();
  return run;
}

// What is fetched or watched, and all that it needs, by the page's own wires: wrong nodes are among them.
void PageRun::find_needed() {
  std::multimap<std::string_view, std::string_view> sources;
  for (const graph::PageEdge& edge : request_.page.edges) sources.emplace(edge.to.node, edge.from.node);
  std::vector<std::string_view> open;
  if (!request_.fetch) {
    for (const graph::PageNode& node : request_.page.nodes) open.push_back(node.id);
  } else {
    for (const PagePin& pin : *request_.fetch) open.push_back(pin.node);
    for (const PagePin& pin : request_.watch) open.push_back(pin.node);
    // Starting values are needed wherever their variables are; nobody reads an Assign.
    for (const graph::PageNode& node : request_.page.nodes) {
      if (node.op == "Assign") open.push_back(node.id);
    }
  }
  while (!open.empty()) {
    const std::string_view id = open.back();
    open.pop_back();
    if (!needed_.insert(std::string(id)).second) continue;
    const auto [first, last] = sources.equal_range(id);
    for (auto edge = first; edge != last; ++edge) open.push_back(edge->second);
  }
}

Status PageRun::build() {
  graph::Page good;
  for (const graph::NodeReport& report : graph::infer_page(request_.page)) {
    if (!report.status.ok()) wrong_.emplace(report.id, report.status);
  }
  for (const graph::PageNode& node : request_.page.nodes) {
    if (!wrong_.contains(node.id)) good.nodes.push_back(node);
  }
  for (const graph::PageEdge& edge : request_.page.edges) {
    if (!wrong_.contains(edge.to.node) && !wrong_.contains(edge.from.node)) good.edges.push_back(edge);
  }
  const Result<graph::PageGraph> ordered = graph::build_page(good);
  if (!ordered.ok()) return ordered.status();
  std::erase_if(good.edges, is_control);
  Result<graph::PageGraph> made = graph::build_page(good);
  if (!made.ok()) return made.status();
  graph_ = std::move(*made);
  for (const Node& node : ordered->scope.graph()->nodes()) {
    if (!needed_.contains(node.name())) continue;
    by_id_.emplace(node.name(), states_.size());
    states_.push_back({.node = graph_->nodes.at(node.name())});
  }
  return {};
}

const PageRun::State* PageRun::state_of(const Node* node) const {
  const auto found = by_id_.find(node->name());
  return found == by_id_.end() ? nullptr : &states_[found->second];
}

// Moving is what has a variable among all that it needs. Of the stateful nodes, an Assign that nobody reads and whose
// value moves not is a starting value.
void PageRun::find_moving() {
  std::set<const Node*> read;
  for (State& state : states_) {
    bool inputs_move = false;
    for (std::size_t i = 0; i < state.node->inputs().size(); ++i) {
      const graph::Wire& wire = state.node->inputs()[i];
      read.insert(wire.node);
      const bool written = i < state.node->op().inputs.size() && state.node->op().inputs[i].variable;
      const State* source = state_of(wire.node);
      inputs_move = inputs_move || (!written && source != nullptr && source->moving);
    }
    state.starting = state.node->type_string() == "Assign" && !inputs_move;
    state.moving = inputs_move || state.node->op().stateful;
  }
  for (const graph::PageEdge& edge : request_.page.edges) {
    if (!is_control(edge) || !by_id_.contains(edge.from.node)) continue;
    read.insert(states_[by_id_.at(edge.from.node)].node);
  }
  for (State& state : states_) state.starting = state.starting && !read.contains(state.node);
}

const Node* PageRun::node(const std::string& id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : states_[found->second].node;
}

Result<graph::Tensor> PageRun::tensor(const PagePin& pin) const {
  const auto refused = [&](std::string reason) {
    return cli::complain({.rule = "graph-fetch",
                          .argument = "node",
                          .reason = std::move(reason),
                          .got = cli::in_quotes(cli::printable(pin.node + "." + pin.pin)),
                          .wanted = "an output with a value"});
  };
  const auto found = by_id_.find(pin.node);
  if (found == by_id_.end()) return refused("the run has no such block");
  const State& state = states_[found->second];
  for (std::size_t i = 0; i < state.outputs.size(); ++i) {
    if (state.node->op().outputs[i].name == pin.pin) return state.outputs[i];
  }
  return refused(state.outputs.empty() ? "the block has no value" : "the block has no such output");
}

Json PageRun::stats(const PagePin& pin) {
  State& state = states_[by_id_.at(pin.node)];
  describe(state);
  const auto is_pin = [&](const Json& output) { return output["pin"] == pin.pin; };
  return (*std::find_if(state.described.begin(), state.described.end(), is_pin))["stats"];
}

std::string PageRun::engine(const std::string& id) {
  State& state = states_[by_id_.at(id)];
  describe(state);
  return state.engine;
}

Json PageRun::go(const RunSurroundings& around) {
  const auto start = Clock::now();
  policy_ = {.engine = request_.engine,
             .workspace_limit = around.budgets.tensor_bytes,
             .limits = {around.budgets.tensor_bytes},
             .cancel = &around.stopped};
  session_ = std::make_unique<graph::ClientSession>(graph_->scope, graph::SessionOptions{policy_});
  report_wrong(around);
  run_states(around, [](const State& state) { return !state.moving; }, true);
  run_states(around, [](const State& state) { return state.starting; }, true);
  run_steps(around);
  return done_json(around, seconds_since(start));
}

void PageRun::report_wrong(const RunSurroundings& around) const {
  for (const auto& [id, status] : wrong_) {
    if (!needed_.contains(id)) continue;
    around.tell("node", Json{{"id", id},
                             {"ok", false},
                             {"seconds", 0},
                             {"bytes", 0},
                             {"reused", false},
                             {"outputs", Json::array()},
                             {"error", cli::status_json(status)}});
  }
}

void PageRun::run_steps(const RunSurroundings& around) {
  const auto moves = [](const State& state) { return state.moving && !state.starting && !is_variable(*state.node); };
  const auto variables = [](const State& state) { return is_variable(*state.node); };
  const bool moving = std::any_of(states_.begin(), states_.end(), moves);
  const std::int64_t steps = moving ? request_.steps : 1;
  auto told = Clock::now() - kStepPause;
  for (std::int64_t step = 1; step <= steps && !around.stopped; ++step) {
    const bool show = step == 1 || step == steps;
    run_states(around, moves, show);
    run_states(around, variables, show);  // last: the values that the step leaves
    if (around.stopped) break;
    steps_done_ = step;
    if (request_.steps == 1 || (Clock::now() - told < kStepPause && step != steps)) continue;
    told = Clock::now();
    around.tell("step", step_json(step));
  }
  if (!around.stopped || steps_done_ < 2) return;
  for (State& state : states_) {  // a stopped loop shows where it stands
    if (!state.moving || state.outputs.empty()) continue;
    describe(state);
    tell_node(state, around);
  }
}

void PageRun::run_states(const RunSurroundings& around, const std::function<bool(const State&)>& which, bool tell) {
  for (State& state : states_) {
    if (around.stopped) return;
    if (!which(state)) continue;
    run_node(state, around);
    if (tell && !around.stopped) {
      describe(state);
      tell_node(state, around);
    }
    if (around.pause) around.pause();
  }
}

// What a failed, stopped or missing node leaves undone its readers leave, too.
Status PageRun::inputs_ready(const State& state) const {
  for (const graph::Wire& wire : state.node->inputs()) {
    if (is_variable(wire)) continue;
    const State* source = state_of(wire.node);
    if (source == nullptr || !source->status.ok() || source->outputs.empty())
      return waits_for(state.node->name(), *wire.node);
  }
  return {};
}

Status PageRun::fits_memory(const State& state, const RunSurroundings& around) {
  const std::int64_t planned = planned_bytes(*state.node), budget = around.budgets.tensor_bytes;
  around.cache.shrink(std::max<std::int64_t>(0, std::min(budget / 2, budget - live_bytes_ - planned)));
  if (planned <= budget - live_bytes_) return {};
  out_of_memory_ = true;
  return Status(
      ErrorDetail{.code = StatusCode::resource_exhausted,
                  .message = fmt::format("the run would hold {} bytes of tensors, more than the studio's budget of {}",
                                         planned + live_bytes_, budget),
                  .argument = "outputs",
                  .got = fmt::format("{} bytes beside {}", planned, live_bytes_),
                  .wanted = fmt::format("at most {} together", budget),
                  .rule = "resource",
                  .node = state.node->name()});
}

void PageRun::run_node(State& state, const RunSurroundings& around) {
  live_bytes_ -= bytes_of(state.outputs);
  state.outputs.clear();
  state.described = {};
  state.reused = false;
  state.seconds = 0;
  state.status = inputs_ready(state);
  if (!state.status.ok()) return;
  if (!state.moving) {
    std::vector<NodeKey> inputs;
    for (const graph::Wire& wire : state.node->inputs()) inputs.push_back(*state_of(wire.node)->key);
    state.key = key_of(*state.node, inputs, request_.engine);
    if (const KeptResult* kept = around.cache.find(*state.key)) {
      state.outputs = kept->outputs;
      state.described = kept->described;
      state.engine = kept->engine;
      state.reused = true;
      live_bytes_ += bytes_of(state.outputs);
      peak_bytes_ = std::max(peak_bytes_, live_bytes_);
      return;
    }
  }
  state.status = fits_memory(state, around);
  if (state.status.ok()) state.status = compute(state);
  live_bytes_ += bytes_of(state.outputs);
  peak_bytes_ = std::max(peak_bytes_, live_bytes_);
  out_of_memory_ = out_of_memory_ || state.status.code() == StatusCode::resource_exhausted;
  if (!state.status.ok() || state.moving) return;
  describe(state);
  around.cache.keep(*state.key, {state.outputs, state.described, state.engine});
}

// The node alone: everything that it reads is fed, but for variables, which are the session's.
Status PageRun::compute(State& state) {
  graph::ClientSession::FeedType feeds;
  for (const graph::Wire& wire : state.node->inputs()) {
    if (is_variable(wire)) continue;
    const graph::Tensor& value = state_of(wire.node)->outputs[static_cast<std::size_t>(wire.index)];
    feeds.emplace(graph::Output(wire.node, wire.index), value);
  }
  std::vector<graph::Output> fetch;
  for (int i = 0; i < state.node->num_outputs(); ++i) fetch.emplace_back(state.node, i);
  const auto start = Clock::now();
  const graph::Status status = session_->Run(feeds, fetch, &state.outputs);
  state.seconds = seconds_since(start);
  return status.core();
}

void PageRun::describe(State& state) {
  if (!state.described.is_null()) return;
  state.described = Json::array();
  state.engine = state.outputs.empty() ? std::string() : engine_of(*state.node, policy_);
  for (std::size_t i = 0; i < state.outputs.size(); ++i) {
    const graph::Tensor& tensor = state.outputs[i];
    state.described.push_back(Json{{"pin", state.node->op().outputs[i].name},
                                   {"dtype", graph::DataTypeString(tensor.dtype())},
                                   {"shape", tensor.shape().dim_sizes()},
                                   {"head", head_json(tensor, kHead)},
                                   {"stats", stats_json(tensor)}});
  }
}

void PageRun::tell_node(const State& state, const RunSurroundings& around) const {
  Json data = {{"id", state.node->name()}, {"ok", state.status.ok()},
               {"seconds", state.seconds}, {"bytes", bytes_of(state.outputs)},
               {"reused", state.reused},   {"outputs", state.described.is_null() ? Json::array() : state.described}};
  if (!state.engine.empty()) data["engine"] = state.engine;
  if (!state.status.ok()) data["error"] = cli::status_json(state.status);
  around.tell("node", data);
}

// NaN and infinity, which JSON has not, are null.
Json PageRun::step_json(std::int64_t step) const {
  Json watched = Json::array();
  for (const PagePin& pin : request_.watch) {
    const Result<graph::Tensor> value = tensor(pin);
    const bool finite = value.ok() && value->NumElements() > 0 && std::isfinite(value->at(0));
    watched.push_back(finite ? Json(value->at(0)) : Json());
  }
  return {{"step", step}, {"of", request_.steps}, {"watch", watched}};
}

Json PageRun::done_json(const RunSurroundings& around, double seconds) const {
  const bool wrong =
      std::any_of(wrong_.begin(), wrong_.end(), [&](const auto& one) { return needed_.contains(one.first); });
  const bool failed =
      std::any_of(states_.begin(), states_.end(), [](const State& state) { return !state.status.ok(); });
  Json done = {{"ok", !wrong && !failed && !around.stopped},
               {"seconds", seconds},
               {"peak_bytes", peak_bytes_},
               {"cancelled", false},
               {"steps", steps_done_}};
  if (out_of_memory_) done["reason"] = "memory";
  return done;
}

}  // namespace convgrad::studio

#include "graph/executor.h"

#include <chrono>
#include <condition_variable>
#include <set>
#include <system_error>
#include <thread>

#include "api/guard.h"

namespace convgrad::graph {
namespace {

// Nodes of fewer elements are not worth a thread: starting one takes about as long as reading these.
constexpr int64 kWorthAThread = 16 * 1024;

bool reads_variable(const Wire& wire) { return wire.node->op().outputs[static_cast<std::size_t>(wire.index)].variable; }

class Run {
 public:
  Run(const Request& request, const RunContext& context)
      : request_(request), context_(context), schedule_(make_schedule(request)), policy_(context.policy) {
    if (context.options.cancel != nullptr) policy_.cancel = context.options.cancel;
    results_.resize(schedule_.steps.size());
    end_ = static_cast<int>(schedule_.steps.size());
    for (int step = 0; step < end_; ++step) {
      if (at(step).waits_for == 0) ready_.insert(step);
    }
  }

  Result<std::vector<Tensor>> go() {
    work();
    for (std::thread& thread : threads_) thread.join();
    if (!failure_.ok()) return failure_;
    return fetched();
  }

 private:
  Step& at(int step) { return schedule_.steps[static_cast<std::size_t>(step)]; }

  // Takes the earliest step that is ready until none is left, on the caller's thread and on those started for it.
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return next_ready() >= 0 || running_ == 0; });
      const int step = next_ready();
      if (step < 0) break;
      ready_.erase(step);
      ++running_;
      start_thread();
      lock.unlock();
      const auto begin = std::chrono::steady_clock::now();
      Result<std::vector<Tensor>> outputs = guarded([&] { return run(step); });
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      lock.lock();
      --running_;
      const convgrad::Status kept = guarded([&] { return finish(step, std::move(outputs), seconds.count()); });
      if (!kept.ok()) stop_at(0, kept);
      changed_.notify_all();
    }
  }

  // After a failure only earlier steps are run, so that the one told does not depend on who was faster.
  int next_ready() const { return ready_.empty() || *ready_.begin() >= end_ ? -1 : *ready_.begin(); }

  // One more thread when all are busy and a step of some size could go now.
  void start_thread() {
    const int most = policy_.threads > 0 ? policy_.threads : static_cast<int>(std::thread::hardware_concurrency());
    const int workers = static_cast<int>(threads_.size()) + 1, step = next_ready();
    if (step < 0 || running_ < workers || workers >= most || elements(step) < kWorthAThread) return;
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // this machine has no more of them
    }
  }

  int64 elements(int step) {
    int64 count = 0;
    for (const Wire& wire : at(step).node->inputs()) {
      const auto found = schedule_.step_of.find(wire.node);
      if (found == schedule_.step_of.end()) continue;
      const std::vector<Tensor>& made = results_[static_cast<std::size_t>(found->second)];
      if (static_cast<std::size_t>(wire.index) < made.size())
        count += made[static_cast<std::size_t>(wire.index)].NumElements();
    }
    return count;
  }

  Result<std::vector<Tensor>> run(int step) {
    const Node& node = *at(step).node;
    if (policy_.cancel != nullptr && policy_.cancel->load(std::memory_order_relaxed))
      return convgrad::Status(ErrorDetail{.code = StatusCode::cancelled,
                                          .message = "the run was cancelled",
                                          .argument = "cancel",
                                          .rule = "cancelled"});
    std::vector<WireInfo> known;
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < node.inputs().size(); ++i) {
      const bool variable = i < node.op().inputs.size() && node.op().inputs[i].variable;
      if (variable) {
        const Wire& wire = node.inputs()[i];
        known.push_back(wire.node->outputs()[static_cast<std::size_t>(wire.index)]);
        inputs.emplace_back();
        continue;
      }
      Result<Tensor> input = value_of(node.inputs()[i]);
      if (!input.ok()) return at_node(input.status(), node.name());
      known.push_back({input->dtype(), input->shape(), *input});
      inputs.push_back(std::move(*input));
    }
    return compute(node, known, inputs);
  }

  Result<std::vector<Tensor>> compute(const Node& node, std::span<const WireInfo> known,
                                      std::span<const Tensor> inputs) {
    const NodeView view{node.op(), node.attrs(), known};
    Result<std::vector<WireInfo>> outputs = infer_outputs(view);
    if (!outputs.ok()) return at_node(outputs.status(), node.name());
    std::vector<Shape> shapes;
    for (const WireInfo& output : *outputs)
      shapes.push_back(output.shape.unknown_rank() ? Shape{} : output.shape.sizes());
    Result<std::vector<Tensor>> made = row_of(node.op()).run({node, view, inputs, shapes, policy_, context_.variables});
    return made.ok() ? std::move(made) : at_node(made.status(), node.name());
  }

  // What stands on a wire now: a feed, a variable's value, or what its node has made.
  Result<Tensor> value_of(const Wire& wire) {
    const auto fed = request_.feeds.find(wire);
    if (fed != request_.feeds.end()) return fed->second;
    if (reads_variable(wire)) return context_.variables.read(*wire.node);
    const std::lock_guard lock(mutex_);
    return results_[static_cast<std::size_t>(schedule_.step_of.at(wire.node))][static_cast<std::size_t>(wire.index)];
  }

  void stop_at(int step, const convgrad::Status& why) {
    if (step >= end_) return;
    end_ = step;
    failure_ = why;
  }

  // What the step has made goes to its readers. Not ok: memory ran out here, or the caller's callback threw.
  convgrad::Status finish(int step, Result<std::vector<Tensor>> outputs, double seconds) {
    if (!outputs.ok()) return stop_at(step, outputs.status()), convgrad::Status();
    ++done_;
    if (context_.metadata != nullptr) context_.metadata->seconds.emplace_back(at(step).node->name(), seconds);
    if (context_.options.progress)
      context_.options.progress({at(step).node, done_, static_cast<int>(schedule_.steps.size()), seconds});
    if (at(step).readers > 0) results_[static_cast<std::size_t>(step)] = std::move(*outputs);
    for (int next : at(step).next) {
      if (--at(next).waits_for == 0) ready_.insert(next);
    }
    release_inputs(step);
    return {};
  }

  void release_inputs(int step) {
    for (const Wire& wire : at(step).node->inputs()) {
      if (request_.feeds.contains(wire)) continue;
      const int source = schedule_.step_of.at(wire.node);
      if (--at(source).readers == 0) results_[static_cast<std::size_t>(source)].clear();
    }
  }

  // A variable that is fetched gives the value that the run leaves it.
  Result<std::vector<Tensor>> fetched() {
    std::vector<Tensor> tensors;
    for (const Wire& wire : request_.fetches) {
      Result<Tensor> value = value_of(wire);
      if (!value.ok()) return at_node(value.status(), wire.node->name());
      tensors.push_back(std::move(*value));
    }
    results_.clear();
    for (Tensor& tensor : tensors) {  // the caller may write to it: no constant, variable or feed of others
      if (!tensor.alone()) tensor = tensor.deep_copy();
      if (!tensor.IsInitialized()) return convgrad::Status::out_of_memory();
    }
    return tensors;
  }

  const Request& request_;
  const RunContext& context_;
  Schedule schedule_;
  Policy policy_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<int> ready_;
  std::vector<std::vector<Tensor>> results_;
  std::vector<std::thread> threads_;
  convgrad::Status failure_;
  int end_ = 0, running_ = 0, done_ = 0;
};

}  // namespace

Result<std::vector<Tensor>> execute(const Request& request, const RunContext& context) {
  return Run(request, context).go();
}

}  // namespace convgrad::graph

#include "running.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include "interpreter_lock.h"

namespace convgrad::python {
namespace {

constexpr double kKeepLockUs = 10;
constexpr double kWatchUs = 10'000;
constexpr double kEnqueueUs = 20;  // of launches; the first of a kernel takes milliseconds
constexpr auto kLook = std::chrono::milliseconds(20);

// Work on a thread of its own, and what its caller waits for.
class Watched {
 public:
  Watched(const Work& work, const Policy& policy) : thread_([this, &work, &policy] { finish(work(policy)); }) {}
  ~Watched() { thread_.join(); }

  bool done_within(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, time, [this] { return done_; });
  }
  Status status() const { return status_; }

 private:
  void finish(Status status) {
    const std::lock_guard lock(mutex_);
    status_ = std::move(status);
    done_ = true;
    ended_.notify_one();
  }
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  Status status_;
  std::thread thread_;  // last: it uses the others
};

// Whether a signal has ended the work.
bool watch(Watched& watched, ReleasedLock& released, std::atomic<bool>& stop) {
  bool raised = false;
  while (!watched.done_within(kLook)) {
    raised = raised || released.taken_back([] { return PyErr_CheckSignals() != 0; });
    if (raised) stop = true;
  }
  return raised;
}

}  // namespace

Status run_watched(const Work& work, Policy policy, std::atomic<bool>& stop) {
  policy.cancel = &stop;
  bool raised = false;
  Status status;
  {
    ReleasedLock released;
    try {
      Watched watched(work, policy);
      raised = watch(watched, released, stop);
      status = watched.status();
    } catch (const std::system_error&) {  // no thread to be had
      status = work(policy);
    }
  }
  if (raised) throw nanobind::python_error();
  return status;
}

Status run_released(const Work& work, Policy policy, double cost_us) {
  if (cost_us < kKeepLockUs) return work(policy);
  std::atomic<bool> stop = false;
  if (cost_us >= kWatchUs) return run_watched(work, std::move(policy), stop);
  const ReleasedLock released;
  return work(policy);
}

Status run_released(const Plan& plan, const RunArgs& args, const Policy& policy) {
  const double cost_us = plan.place.memory == Memory::host ? plan.cost_us : kEnqueueUs;
  return run_released([&](const Policy& with) { return run(plan, args, with); }, policy, cost_us);
}

}  // namespace convgrad::python

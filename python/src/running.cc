#include "running.h"

#include <nanobind/nanobind.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include "errors.h"

namespace nb = nanobind;

namespace convgrad::python {
namespace {

constexpr double kKeepLockUs = 10;
constexpr double kWatchUs = 10'000;
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

bool signal_raises() {
  const nb::gil_scoped_acquire lock;
  return PyErr_CheckSignals() != 0;
}

Status watch(const Work& work, const Policy& policy, std::atomic<bool>& cancel) {
  Watched watched(work, policy);
  while (!watched.done_within(kLook)) {
    if (!cancel && signal_raises()) cancel = true;
  }
  return watched.status();
}

Status run_watched(const Work& work, Policy& policy) {
  std::atomic<bool> cancel = false;
  policy.cancel = &cancel;
  Status status;
  {
    const nb::gil_scoped_release released;
    try {
      status = watch(work, policy, cancel);
    } catch (const std::system_error&) {  // no thread to be had
      status = work(policy);
    }
  }
  if (cancel) throw nb::python_error();
  return status;
}

Status run_here(const Work& work, const Policy& policy) {
  const nb::gil_scoped_release released;
  return work(policy);
}

}  // namespace

void run_released(const Work& work, Policy policy, double cost_us) {
  if (cost_us < kKeepLockUs) return raise_if_error(work(policy));
  raise_if_error(cost_us < kWatchUs ? run_here(work, policy) : run_watched(work, policy));
}

}  // namespace convgrad::python

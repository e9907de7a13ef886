#include "base/pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace convgrad {
namespace {

// A loop being run. Lives on the stack of the thread that asked for it, which leaves only when no
// worker holds it. `tickets` and `active` are guarded by the pool's mutex.
struct Job {
  std::int64_t count;
  ParallelFor::Body body;
  void* state;
  int tickets;     // workers still invited
  int active = 0;  // workers inside
  Job* older = nullptr;
  std::atomic<std::int64_t> next{0};

  void work() {
    for (std::int64_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) body(state, i);
  }
};

class Pool {
 public:
  explicit Pool(Pool* before_fork) : before_fork_(before_fork) {}

  void run(Job& job) {
    invite(job);
    job.work();
    std::unique_lock lock(mutex_);
    withdraw(job);
    idle_.wait(lock, [&] { return job.active == 0; });
  }

  // Ends and joins the workers; later jobs run on their callers alone.
  void stop() {
    std::vector<std::thread> workers;
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
      workers.swap(workers_);
    }
    wake_.notify_all();
    for (std::thread& worker : workers) worker.join();
  }

 private:
  void invite(Job& job) {
    std::lock_guard lock(mutex_);
    grow(job.tickets);
    job.tickets = std::min(job.tickets, static_cast<int>(workers_.size()));
    if (job.tickets == 0) return;
    job.older = jobs_;
    jobs_ = &job;
    invitations_.fetch_add(job.tickets, std::memory_order_relaxed);
    job.tickets == 1 ? wake_.notify_one() : wake_.notify_all();
  }

  void withdraw(Job& job) {
    if (job.tickets == 0) return;
    invitations_.fetch_sub(job.tickets, std::memory_order_relaxed);
    job.tickets = 0;
    unlink(job);
  }

  void unlink(Job& job) {
    Job** link = &jobs_;
    while (*link != &job) link = &(*link)->older;
    *link = job.older;
  }

  // Fewer workers than asked for is no error: the caller's own thread always works.
  void grow(int wanted) {
    try {
      while (!stopping_ && static_cast<int>(workers_.size()) < wanted) {
        workers_.reserve(static_cast<std::size_t>(wanted));
        workers_.emplace_back([this] { serve(); });
      }
    } catch (const std::bad_alloc&) {
    } catch (const std::system_error&) {
    }
  }

  void serve() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      if (jobs_ == nullptr) {
        lock.unlock();
        spin();
        lock.lock();
        wake_.wait(lock, [&] { return stopping_ || jobs_ != nullptr; });
        if (stopping_) return;
      }
      Job& job = *jobs_;
      invitations_.fetch_sub(1, std::memory_order_relaxed);
      if (--job.tickets == 0) unlink(job);
      ++job.active;
      lock.unlock();
      job.work();
      lock.lock();
      if (--job.active == 0) idle_.notify_all();
    }
  }

  // Back-to-back calls arrive within microseconds of each other; waking a sleeper costs about 50.
  void spin() const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
    while (invitations_.load(std::memory_order_relaxed) == 0 && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  Job* jobs_ = nullptr;  // newest first; only jobs with tickets left
  std::atomic<int> invitations_{0};
  bool stopping_ = false;
  std::vector<std::thread> workers_;
  [[maybe_unused]] Pool* before_fork_;  // kept reachable: its workers exist only in the parent
};

std::atomic<Pool*> g_pool{nullptr};
std::atomic<Pool*> g_before_fork{nullptr};

// In the child the workers are gone and their mutex may be held forever: start over.
void forget_pool_in_child() { g_before_fork = g_pool.exchange(nullptr); }

// At load time: a lazy registration could itself be caught half-way by a fork.
[[maybe_unused]] const int g_registered = pthread_atfork(nullptr, nullptr, forget_pool_in_child);

Pool* shared_pool() {
  if (Pool* pool = g_pool.load()) return pool;
  Pool* mine = new (std::nothrow) Pool(g_before_fork.load());
  Pool* expected = nullptr;
  if (mine == nullptr || g_pool.compare_exchange_strong(expected, mine)) return mine;
  delete mine;  // another thread was first
  return expected;
}

// Joins the workers before the library's code is unmapped (exit or dlclose).
struct StopAtUnload {
  ~StopAtUnload() {
    if (Pool* pool = g_pool.load()) pool->stop();
  }
} g_stop_at_unload;

}  // namespace

void pool_run(std::int64_t count, int threads, ParallelFor::Body body, void* state) noexcept {
  const auto helpers = static_cast<int>(std::min<std::int64_t>(std::min(threads, kMaxThreads), count) - 1);
  Job job{count, body, state, helpers};
  Pool* pool = helpers > 0 ? shared_pool() : nullptr;
  pool != nullptr ? pool->run(job) : job.work();
}

}  // namespace convgrad

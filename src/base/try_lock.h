// A lock that nobody waits for: who finds it taken goes without. So a child forked while it was held only
// goes without, too.
#pragma once

#include <atomic>

namespace convgrad {

class TryLock {
 public:
  explicit TryLock(std::atomic_flag& flag) : flag_(flag), held_(!flag.test_and_set(std::memory_order_acquire)) {}
  ~TryLock() {
    if (held_) flag_.clear(std::memory_order_release);
  }
  TryLock(const TryLock&) = delete;
  TryLock& operator=(const TryLock&) = delete;
  explicit operator bool() const { return held_; }

 private:
  std::atomic_flag& flag_;
  const bool held_;
};

}  // namespace convgrad

// The interpreter's lock, given away and taken back without a way to end the process.
#pragma once

#include <nanobind/nanobind.h>

namespace convgrad::python {

// Gives the lock away for its lifetime; taken_back() has it for a moment.
// Up to Python 3.13 a thread that wants the lock while the interpreter ends is unwound by force, which would pass
// through destructors and end in std::terminate. Such a thread is put to sleep instead, as from 3.14 on.
class ReleasedLock {
 public:
  ReleasedLock() : state_(PyEval_SaveThread()) {}
  ~ReleasedLock() { take_back(); }
  ReleasedLock(const ReleasedLock&) = delete;
  ReleasedLock& operator=(const ReleasedLock&) = delete;

  template <class Call>
  auto taken_back(const Call& call) {
    take_back();
    const auto result = call();
    state_ = PyEval_SaveThread();
    return result;
  }

 private:
  void take_back() noexcept;
  PyThreadState* state_;
};

// The lock for a thread that is not Python's.
class TakenLock {
 public:
  TakenLock() noexcept;
  ~TakenLock() { PyGILState_Release(state_); }
  TakenLock(const TakenLock&) = delete;
  TakenLock& operator=(const TakenLock&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace convgrad::python

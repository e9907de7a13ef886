#include "interpreter_lock.h"

#include <cxxabi.h>
#include <unistd.h>

namespace convgrad::python {
namespace {

template <class Call>
auto or_sleep(const Call& call) noexcept {
  try {
    return call();
  } catch (const abi::__forced_unwind&) {
    for (;;) pause();
  }
}

}  // namespace

void ReleasedLock::take_back() noexcept {
  or_sleep([this] { PyEval_RestoreThread(state_); });
}

TakenLock::TakenLock() noexcept : state_(or_sleep([] { return PyGILState_Ensure(); })) {}

}  // namespace convgrad::python

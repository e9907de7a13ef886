// Threads lent by the caller.
#ifndef CONVGRAD_THREADS_H_
#define CONVGRAD_THREADS_H_

#include <cstdint>

namespace convgrad {

// A loop over threads lent by the caller: calls body(state, i) once for each i in [0, count), on
// any threads and in any order, and returns when all calls have returned.
struct ParallelFor {
  using Body = void (*)(void* state, std::int64_t index);
  void (*run)(void* context, std::int64_t count, Body body, void* state) = nullptr;
  void* context = nullptr;
};

inline constexpr int kMaxThreads = 1024;

}  // namespace convgrad

#endif  // CONVGRAD_THREADS_H_

// The process-wide thread pool: unpinned workers that spin briefly, then sleep.
#pragma once

#include <cstdint>

#include "convgrad/threads.h"

namespace convgrad {

// Calls body(state, i) once for each i in [0, count) on up to `threads` threads, the caller's among
// them; returns when all calls have returned. Safe from many threads at once, from inside a body,
// and in a child after fork(). body must not throw. Allocates only when the pool grows.
void pool_run(std::int64_t count, int threads, ParallelFor::Body body, void* state) noexcept;

}  // namespace convgrad

// Spreads units of work over the threads a policy gives.
#pragma once

#include <atomic>
#include <cstdint>

#include "convgrad/plan.h"

namespace convgrad {

// How many threads a policy gives: its number, or one a usable core.
int threads_of(const Policy& policy);

// Says that the run was cancelled when the policy's flag is up.
Status go_on(const Policy& policy);

// A call of unit(context, index); index in [0, units).
struct Units {
  std::int64_t count;
  void (*unit)(void* context, std::int64_t index);
  void* context;
};

// Runs every unit exactly once, in any order, each in the default floating-point environment
// (round to nearest, no flushing); the caller's own is restored. A lent parallel_for that calls too
// often or too rarely does no harm. Stops early with `cancelled` when the policy's flag is up.
Status spread(const Policy& policy, const Units& units);

// Units for a few workers, each with memory of its own: unit(context, index, worker) with worker in
// [0, workers), never two calls with the same worker at once.
struct WorkerUnits {
  std::int64_t count;
  int workers;
  void (*unit)(void* context, std::int64_t index, int worker);
  void* context;
};

Status spread(const Policy& policy, const WorkerUnits& units);

}  // namespace convgrad

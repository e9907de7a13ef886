#include "engines/spread.h"

#include <cfenv>

#include "base/machine.h"
#include "base/pool.h"
#include "base/rules.h"

namespace convgrad {
namespace {

class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatEnvironment() { std::fesetenv(&saved_); }
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

 private:
  std::fenv_t saved_;
};

struct Progress {
  const Units& units;
  const std::atomic<bool>* cancel;
  std::atomic<std::int64_t> next{0};
  std::atomic<std::int64_t> done{0};

  // Takes the next unit that nobody has; the index that a lender passes is not trusted.
  bool step() {
    const std::int64_t index = next.fetch_add(1);
    if (index >= units.count || (cancel != nullptr && cancel->load(std::memory_order_relaxed))) return false;
    const DefaultFloatEnvironment environment;
    units.unit(units.context, index);
    done.fetch_add(1);
    return true;
  }
};

Status cancelled() {
  return refuse("run", {.rule = Rule::cancelled,
                        .argument = "cancel",
                        .reason = "the run was cancelled; the result is unfinished",
                        .got = "the cancel flag set",
                        .wanted = "it unset until the end",
                        .code = StatusCode::cancelled});
}

// One worker's share: units until there are none left.
struct Workers {
  const WorkerUnits& units;
  const std::atomic<bool>* cancel;
  std::atomic<std::int64_t> next{0};
  std::atomic<std::int64_t> done{0};

  bool stopped() const { return cancel != nullptr && cancel->load(std::memory_order_relaxed); }
  void work(int worker) {
    for (std::int64_t index = next++; index < units.count && !stopped(); index = next++) {
      units.unit(units.context, index, worker);
      done.fetch_add(1, std::memory_order_relaxed);
    }
  }
};

}  // namespace

int threads_of(const Policy& policy) { return policy.threads > 0 ? policy.threads : usable_cores(); }

Status spread(const Policy& policy, const WorkerUnits& units) {
  Workers workers{units, policy.cancel};
  if (units.workers == 1) {
    const DefaultFloatEnvironment environment;
    workers.work(0);
  } else {
    const auto body = [](void* context, std::int64_t worker) {
      static_cast<Workers*>(context)->work(static_cast<int>(worker));
    };
    CONVGRAD_RETURN_IF_ERROR(spread(policy, Units{units.workers, body, &workers}));
  }
  return workers.done.load() == units.count ? Status() : cancelled();
}

Status spread(const Policy& policy, const Units& units) {
  Progress progress{units, policy.cancel};
  const ParallelFor::Body body = [](void* state, std::int64_t) { static_cast<Progress*>(state)->step(); };
  if (policy.parallel_for.run != nullptr) {
    policy.parallel_for.run(policy.parallel_for.context, units.count, body, &progress);
    while (progress.step()) {
    }
  } else {
    pool_run(units.count, threads_of(policy), body, &progress);
  }
  return progress.done.load() == units.count ? Status() : cancelled();
}

}  // namespace convgrad

#include "engines/spread.h"

#include <cfenv>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/machine.h"
#include "base/pool.h"
#include "base/rules.h"

namespace convgrad {
namespace {

#if defined(__x86_64__)
// What fesetenv() does in 50 ns: MXCSR rules all arithmetic of the engines, the x87 control word what fegetround()
// says.
struct FloatEnvironment {
  unsigned mxcsr;
  std::uint16_t x87;
};
constexpr FloatEnvironment kDefault{0x1f80, 0x037f};  // round to nearest, no flushing, no traps, no flags

void set_x87(std::uint16_t word) { __asm__ volatile("fldcw %0" : : "m"(word)); }
std::uint16_t x87() {
  std::uint16_t word;
  __asm__ volatile("fnstcw %0" : "=m"(word));
  return word;
}

FloatEnvironment change_to_default() {
  const FloatEnvironment before{_mm_getcsr(), x87()};
  _mm_setcsr(kDefault.mxcsr);
  if (before.x87 != kDefault.x87) set_x87(kDefault.x87);
  return before;
}
void restore(const FloatEnvironment& before) {
  _mm_setcsr(before.mxcsr);
  if (before.x87 != kDefault.x87) set_x87(before.x87);
}
#else
using FloatEnvironment = std::fenv_t;
FloatEnvironment change_to_default() {
  FloatEnvironment before;
  std::fegetenv(&before);
  std::fesetenv(FE_DFL_ENV);
  return before;
}
void restore(const FloatEnvironment& before) { std::fesetenv(&before); }
#endif

class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment() : saved_(change_to_default()) {}
  ~DefaultFloatEnvironment() { restore(saved_); }
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

 private:
  const FloatEnvironment saved_;
};

bool is_up(const std::atomic<bool>* flag) { return flag != nullptr && flag->load(std::memory_order_relaxed); }

struct Progress {
  const Units& units;
  const std::atomic<bool>* cancel;
  std::atomic<std::int64_t> next{0};
  std::atomic<std::int64_t> done{0};

  // Takes the next unit that nobody has; the index that a lender passes is not trusted.
  bool step() {
    const std::int64_t index = next.fetch_add(1);
    if (index >= units.count || is_up(cancel)) return false;
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

  void work(int worker) {
    for (std::int64_t index = next++; index < units.count && !is_up(cancel); index = next++) {
      units.unit(units.context, index, worker);
      done.fetch_add(1, std::memory_order_relaxed);
    }
  }
};

// On the caller's thread alone: nothing to share, so nothing to lock.
Status run_alone(const WorkerUnits& units, const std::atomic<bool>* cancel) {
  const DefaultFloatEnvironment environment;
  for (std::int64_t index = 0; index < units.count; ++index) {
    if (is_up(cancel)) return cancelled();
    units.unit(units.context, index, 0);
  }
  return {};
}

}  // namespace

Status go_on(const Policy& policy) { return is_up(policy.cancel) ? cancelled() : Status(); }

int threads_of(const Policy& policy) { return policy.threads > 0 ? policy.threads : usable_cores(); }

Status spread(const Policy& policy, const WorkerUnits& units) {
  if (units.workers == 1) return run_alone(units, policy.cancel);
  Workers workers{units, policy.cancel};
  const auto body = [](void* context, std::int64_t worker) {
    static_cast<Workers*>(context)->work(static_cast<int>(worker));
  };
  CONVGRAD_RETURN_IF_ERROR(spread(policy, Units{units.workers, body, &workers}));
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

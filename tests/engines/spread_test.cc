// Units of work: each exactly once whatever a lender does, cancel, floating-point environment.
#include "engines/spread.h"

#include <gtest/gtest.h>

#include <cfenv>
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#include <vector>

namespace convgrad {
namespace {

using Counters = std::vector<std::atomic<int>>;

Units counting(Counters& counters) {
  return {
      static_cast<std::int64_t>(counters.size()),
      [](void* context, std::int64_t index) { ++(*static_cast<Counters*>(context))[static_cast<std::size_t>(index)]; },
      &counters};
}

bool all_once(const Counters& counters) {
  for (const auto& counter : counters) {
    if (counter != 1) return false;
  }
  return true;
}

TEST(Spread, runs_each_unit_once_whatever_the_lender_does) {
  const ParallelFor lenders[] = {
      {[](void*, std::int64_t n, ParallelFor::Body body, void* s) {
         for (std::int64_t i = 0; i < n; ++i) body(s, i);
       },
       nullptr},
      {[](void*, std::int64_t n, ParallelFor::Body body, void* s) {
         for (std::int64_t i = 0; i < 2 * n; ++i) body(s, i / 2);
       },
       nullptr},
      {[](void*, std::int64_t n, ParallelFor::Body body, void* s) {
         for (std::int64_t i = 0; i < n / 2; ++i) body(s, i);
       },
       nullptr},
      {[](void*, std::int64_t, ParallelFor::Body, void*) {}, nullptr},
      {[](void*, std::int64_t n, ParallelFor::Body body, void* s) {
         for (std::int64_t i = 0; i < n; ++i) body(s, -7);
       },
       nullptr},
  };
  for (const ParallelFor& lender : lenders) {
    Counters counters(37);
    ASSERT_TRUE(spread({.parallel_for = lender}, counting(counters)).ok());
    EXPECT_TRUE(all_once(counters));
  }
}

TEST(Spread, stops_when_cancelled) {
  std::atomic<bool> cancel{true};
  Counters counters(10);
  const Status status = spread({.cancel = &cancel}, counting(counters));
  EXPECT_EQ(status.code(), StatusCode::cancelled);
  EXPECT_EQ(status.rule(), "cancelled");
  for (const auto& counter : counters) EXPECT_EQ(counter, 0);
  cancel = false;
  EXPECT_TRUE(spread({.cancel = &cancel}, counting(counters)).ok());
}

TEST(Spread, computes_in_the_default_float_environment_and_restores_the_callers) {
  std::atomic<int> odd{0};
  const Units units{8,
                    [](void* context, std::int64_t) {
                      if (std::fegetround() != FE_TONEAREST) ++*static_cast<std::atomic<int>*>(context);
                    },
                    &odd};
  std::fesetround(FE_UPWARD);
  const Status status = spread({.threads = 2}, units);
  const int after = std::fegetround();
  std::fesetround(FE_TONEAREST);
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(odd, 0);
  EXPECT_EQ(after, FE_UPWARD);
}

#if defined(__x86_64__)
TEST(Spread, does_not_flush_denormals_and_keeps_the_callers_modes_and_flags) {
  constexpr unsigned kFlushAndInexact = 0x1f80 | 0x8040 | 0x20;
  double tiny = 1e-310;
  const WorkerUnits units{1, 1,
                          [](void* context, std::int64_t, int) {
                            volatile double& value = *static_cast<double*>(context);
                            value = value * 3;
                          },
                          &tiny};
  _mm_setcsr(kFlushAndInexact);
  const Status status = spread({}, units);
  const unsigned after = _mm_getcsr();
  _mm_setcsr(0x1f80);
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(tiny, 1e-310 * 3);
  EXPECT_EQ(after, kFlushAndInexact);
}
#endif

}  // namespace
}  // namespace convgrad

// Units of work: each exactly once whatever a lender does, cancel, floating-point environment.
#include "engines/spread.h"

#include <gtest/gtest.h>

#include <cfenv>
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

}  // namespace
}  // namespace convgrad

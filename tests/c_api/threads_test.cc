// Lent loops that keep or break their promise, and many threads on one plan.
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include "c_api/scene.h"

namespace convgrad::test {
namespace {

// Enough work for several units, so that a lender has something to get wrong.
constexpr const char* kLongProblem = "n8c16h16w16_k32r3s3_same_f32_filter_grad";

struct LongBuffers {
  std::vector<float> x = std::vector<float>(8 * 16 * 16 * 16), dy = std::vector<float>(8 * 16 * 16 * 32),
                     dw = std::vector<float>(3 * 3 * 16 * 32, -1.0f);

  LongBuffers() {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 101) * 0.37f - 11.0f;
    for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = static_cast<float>(i * 53 % 97) * 0.11f - 4.0f;
  }
  convgrad_status run(const convgrad_plan* plan) {
    const convgrad_buffers buffers = {sizeof(buffers), x.data(),      x.size() * 4, dy.data(), dy.size() * 4,
                                      dw.data(),       dw.size() * 4, nullptr,      0,         nullptr};
    return convgrad_plan_run(plan, &buffers);
  }
};

std::vector<float> expected() {
  const PlanHandle handle(kLongProblem);
  LongBuffers arrays;
  EXPECT_EQ(arrays.run(handle.plan), CONVGRAD_OK) << convgrad_last_message();
  return arrays.dw;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

convgrad_policy lending(convgrad_parallel_for loop, void* context = nullptr) {
  convgrad_policy policy{};
  policy.struct_size = sizeof(policy);
  policy.threads = 8;
  policy.parallel_for = loop;
  policy.parallel_for_context = context;
  return policy;
}

void expect_right_values(convgrad_parallel_for loop) {
  const convgrad_policy policy = lending(loop);
  const PlanHandle handle(kLongProblem, &policy);
  LongBuffers arrays;
  ASSERT_EQ(arrays.run(handle.plan), CONVGRAD_OK) << convgrad_last_message();
  EXPECT_TRUE(same_bits(arrays.dw, expected()));
}

extern "C" {
void backwards(void*, std::int64_t count, convgrad_parallel_body body, void* state) {
  for (std::int64_t i = count; i-- > 0;) body(state, i);
}
void each_twice(void*, std::int64_t count, convgrad_parallel_body body, void* state) {
  for (std::int64_t i = 0; i < 2 * count; ++i) body(state, i / 2);
}
void every_third(void*, std::int64_t count, convgrad_parallel_body body, void* state) {
  for (std::int64_t i = 0; i < count; i += 3) body(state, i);
}
void none(void*, std::int64_t, convgrad_parallel_body, void*) {}
void outside_the_range(void*, std::int64_t count, convgrad_parallel_body body, void* state) {
  for (std::int64_t i = 0; i < count; ++i) body(state, i * -1000000007 - count);
}
void on_threads(void*, std::int64_t count, convgrad_parallel_body body, void* state) {
  std::vector<std::thread> threads;
  for (std::int64_t t = 0; t < 4; ++t) {
    threads.emplace_back([=] {
      for (std::int64_t i = t; i < count; i += 4) body(state, i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}
void counting(void* context, std::int64_t count, convgrad_parallel_body body, void* state) {
  *static_cast<std::int64_t*>(context) += count;
  for (std::int64_t i = 0; i < count; ++i) body(state, i);
}
}

// Not extern "C": they throw.
void throws_at_once(void*, std::int64_t, convgrad_parallel_body, void*) {
  throw std::runtime_error("lender's trouble");
}
void throws_midway(void*, std::int64_t count, convgrad_parallel_body body, void* state) {
  for (std::int64_t i = 0; i < count / 2; ++i) body(state, i);
  throw 42;
}
void throws_bad_alloc(void*, std::int64_t, convgrad_parallel_body, void*) { throw std::bad_alloc(); }

TEST(CApiLentLoop, may_run_backwards) { expect_right_values(backwards); }
TEST(CApiLentLoop, may_run_every_index_twice) { expect_right_values(each_twice); }
TEST(CApiLentLoop, may_drop_indices) { expect_right_values(every_third); }
TEST(CApiLentLoop, may_do_nothing) { expect_right_values(none); }
TEST(CApiLentLoop, may_pass_indices_outside_the_range) { expect_right_values(outside_the_range); }
TEST(CApiLentLoop, may_use_threads) { expect_right_values(on_threads); }

TEST(CApiLentLoop, gets_its_context_and_several_units) {
  std::int64_t units = 0;
  const convgrad_policy policy = lending(counting, &units);
  const PlanHandle handle(kLongProblem, &policy);
  LongBuffers arrays;
  ASSERT_EQ(arrays.run(handle.plan), CONVGRAD_OK) << convgrad_last_message();
  EXPECT_GT(units, 3);
}

void expect_status(convgrad_parallel_for loop, convgrad_status wanted) {
  const convgrad_policy policy = lending(loop);
  const PlanHandle handle(kLongProblem, &policy);
  LongBuffers arrays;
  EXPECT_EQ(arrays.run(handle.plan), wanted) << convgrad_last_message();
  const PlanHandle next(kLongProblem);
  EXPECT_EQ(arrays.run(next.plan), CONVGRAD_OK);
  EXPECT_TRUE(same_bits(arrays.dw, expected()));
}

TEST(CApiLentLoop, that_throws_comes_back_as_a_status) {
  expect_status(throws_at_once, CONVGRAD_INTERNAL);
  EXPECT_NE(std::string(convgrad_last_message()).find("lender's trouble"), std::string::npos);
  expect_status(throws_midway, CONVGRAD_INTERNAL);
  expect_status(throws_bad_alloc, CONVGRAD_RESOURCE_EXHAUSTED);
}

TEST(CApiThreads, many_on_one_plan_give_equal_bits) {
  const std::vector<float> right = expected();
  const PlanHandle handle(kLongProblem);
  std::vector<LongBuffers> arrays(8);
  std::vector<std::thread> threads;
  for (LongBuffers& mine : arrays) {
    threads.emplace_back([&mine, &handle] {
      for (int i = 0; i < 5; ++i) EXPECT_EQ(mine.run(handle.plan), CONVGRAD_OK);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const LongBuffers& mine : arrays) EXPECT_TRUE(same_bits(mine.dw, right));
}

TEST(CApiThreads, any_thread_count_gives_equal_bits) {
  const std::vector<float> right = expected();
  for (const std::int32_t threads : {1, 2, 3, 7, 64}) {
    convgrad_policy policy = lending(nullptr);
    policy.threads = threads;
    const PlanHandle handle(kLongProblem, &policy);
    LongBuffers arrays;
    ASSERT_EQ(arrays.run(handle.plan), CONVGRAD_OK) << convgrad_last_message();
    EXPECT_TRUE(same_bits(arrays.dw, right)) << threads << " threads";
  }
}

}  // namespace
}  // namespace convgrad::test

// The same bits for any number of threads, any pool, and on every rerun; on data where order matters.
#include <gtest/gtest.h>

#include <thread>

#include "support/problems.h"

namespace convgrad {
namespace {

// Small chunks, so that even small problems are cut into many units. The reference alone cuts by chunks; the
// CPU engine has tests/engines/cpu/isa_test.cc, and the last test here.
Tensor run_in_chunks(const Plan& made, const test::Operands& given, std::int64_t chunk, const Policy& policy) {
  Plan plan = made;
  plan.chunk = chunk;
  Tensor result = Tensor::zeros(plan.geometry.dtype, result_shape(plan.geometry)).value();
  const Status status = run(plan, {given.first, given.second, result.mutable_view(), {}}, policy);
  EXPECT_TRUE(status.ok()) << status.message();
  return result;
}

TEST(Bits, do_not_depend_on_the_thread_count) {
  test::Random random(21);
  for (int round = 0; round < 300; ++round) {
    const ConvProblem problem = test::random_problem(random, 20000);
    const Geometry geometry = validate(problem).value();
    const test::Operands given = test::real_operands(random, geometry);
    const Plan plan = make_plan(geometry, {.engine = "reference"}).value();
    const Tensor alone = run_in_chunks(plan, given, 1 << 30, {.threads = 1});
    for (int threads : {1, 2, 3, 7, 16}) {
      ASSERT_EQ(test::difference(run_in_chunks(plan, given, 3, {.threads = threads}), alone), "")
          << threads << " threads: " << to_text(problem);
    }
  }
}

// A lender that runs everything backwards on the caller's thread.
void backwards(void*, std::int64_t count, ParallelFor::Body body, void* state) {
  for (std::int64_t i = count; i-- > 0;) body(state, i);
}

TEST(Bits, do_not_depend_on_the_pool) {
  test::Random random(22);
  for (int round = 0; round < 100; ++round) {
    const Geometry geometry = validate(test::random_problem(random, 5000)).value();
    const test::Operands given = test::real_operands(random, geometry);
    const Plan plan = make_plan(geometry, {.engine = "reference"}).value();
    ASSERT_EQ(test::difference(run_in_chunks(plan, given, 2, {.parallel_for = {backwards, nullptr}}),
                               run_in_chunks(plan, given, 5, {.threads = 4})),
              "");
  }
}

TEST(Bits, are_equal_when_many_threads_run_one_plan) {
  test::Random random(23);
  const Geometry geometry = validate(parse_problem("n2c6h9w9_k8r3s3_st2_same_g2_f32_filter_grad").value()).value();
  const test::Operands given = test::real_operands(random, geometry);
  const Plan plan = make_plan(geometry, {.engine = "reference"}).value();
  const Tensor wanted = run_in_chunks(plan, given, 4, {.threads = 1});
  std::vector<std::string> found(8);
  std::vector<std::thread> threads;
  for (std::string& place : found) {
    threads.emplace_back([&place, &plan, &given, &wanted] {
      for (int i = 0; i < 20 && place.empty(); ++i)
        place = test::difference(run_in_chunks(plan, given, 4, {.threads = 3}), wanted);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& place : found) EXPECT_EQ(place, "");
}

// Large enough for several units and slices: a lent pool in reverse order, and many threads.
TEST(Bits, of_the_cpu_engine_do_not_depend_on_the_pool) {
  test::Random random(24);
  for (const char* direction : {"forward", "input_grad", "filter_grad"}) {
    const ConvProblem problem = parse_problem(std::string("n6c24h24w24_k32r3s3_same_f32_") + direction).value();
    const Geometry geometry = validate(problem).value();
    const test::Operands given = test::real_operands(random, geometry);
    const auto computed = [&](const Policy& policy) {
      return compute(problem, given.first, given.second, policy).value();
    };
    const Tensor alone = computed({.engine = "cpu", .threads = 1});
    EXPECT_EQ(test::difference(computed({.engine = "cpu", .threads = 7}), alone), "") << direction;
    EXPECT_EQ(test::difference(computed({.engine = "cpu", .threads = 5, .parallel_for = {backwards, nullptr}}), alone),
              "")
        << direction;
  }
}

}  // namespace
}  // namespace convgrad

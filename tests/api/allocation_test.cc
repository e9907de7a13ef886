// run() allocates nothing on aligned, contiguous tensors; every failed allocation is a clean Status.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "support/problems.h"

namespace {

std::atomic<long> g_allocations{0};
std::atomic<long> g_fail_at{-1};  // the allocation that fails, counted from now; -1: none

void* allocate(std::size_t bytes) {
  ++g_allocations;
  if (g_fail_at >= 0 && g_fail_at-- == 0) throw std::bad_alloc();
  if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocate(bytes); }
// Not inlined: the compiler would see free() without the malloc() of the new beside it, and warn.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace convgrad {
namespace {

TEST(Allocation, run_makes_none) {
  for (const char* text :
       {"n2c4h9w9_k6r3s3_st2_same_g2_f32_filter_grad", "n1c2d4h5w6_k3t2r2s2_di2_pad1.2_f64_input_grad",
        "n2c4h9w9_k6r3s3_valid_chfirst_bf16_forward", "n2c4h9w9_k6r3s3_valid_f16_bias_grad"}) {
    const ConvProblem problem = parse_problem(text).value();
    const Geometry g = validate(problem).value();
    test::Random random(1);
    test::Operands given = test::random_operands(random, g);
    Tensor result = Tensor::zeros(g.dtype, result_shape(g)).value();
    const Plan plan = make_plan(g).value();
    const Policy policy{.threads = 3};
    const RunArgs args{given.first, given.second, result.mutable_view(), {}};
    ASSERT_TRUE(run(plan, args, policy).ok());  // the pool's threads start here, once
    const long before = g_allocations;
    const Status status = run(plan, args, policy);
    EXPECT_EQ(g_allocations - before, 0) << text;
    EXPECT_TRUE(status.ok());
  }
}

// Fails the 1st, 2nd, 3rd, ... allocation of a call until it goes through.
template <class Call>
void fail_every_allocation(const Call& call) {
  long failures = 0;
  for (long k = 0; k < 10000; ++k) {
    g_fail_at = k;
    const Status status = call();
    const bool reached = g_fail_at < 0;
    g_fail_at = -1;
    if (!reached) {
      EXPECT_TRUE(status.ok() || status.code() == StatusCode::invalid_argument) << status.message();
      EXPECT_GT(failures, 0);
      return;
    }
    ++failures;
    ASSERT_EQ(status.code(), StatusCode::resource_exhausted) << "allocation " << k << ": " << status.message();
  }
  FAIL() << "never went through";
}

TEST(Allocation, failure_in_an_eager_call_is_a_status) {
  test::Random random(1);
  const Tensor x = test::random_integers(random, DType::f32, {1, 5, 5, 2}),
               dy = test::random_integers(random, DType::f32, {1, 5, 5, 3});
  const ConvOptions options{.padding = Padding::same()};
  const TensorView vx = x, vdy = dy;
  const Shape sizes{3, 3, 2, 3};
  fail_every_allocation([&] { return conv2d_backprop_filter(vx, sizes, vdy, options).status(); });
  const Tensor f = test::random_integers(random, DType::f32, {3, 3, 2, 3});
  const TensorView vf = f;
  fail_every_allocation([&] { return conv_gradients(vx, vf, vdy, options).status(); });
}

TEST(Allocation, failure_while_refusing_is_a_status_too) {
  test::Random random(1);
  const Tensor x = test::random_integers(random, DType::f32, {1, 5, 5, 2}),
               dy = test::random_integers(random, DType::f32, {1, 4, 5, 3});
  const ConvOptions options{.padding = Padding::same()};
  const TensorView vx = x, vdy = dy;
  const Shape sizes{3, 3, 2, 3};
  fail_every_allocation([&] { return conv2d_backprop_filter(vx, sizes, vdy, options).status(); });
}

}  // namespace
}  // namespace convgrad

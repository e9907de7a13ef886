// Guard pages around every buffer, read-only operands, poisoned results, untouched float environment.
#include <gtest/gtest.h>

#include <cfenv>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "support/guarded_memory.h"
#include "support/problems.h"

namespace convgrad {
namespace {

using test::GuardedMemory;

TEST(Memory, nothing_outside_the_tensors_is_touched_and_every_result_is_written) {
  test::Random random(61);
  for (int round = 0; round < 1500; ++round) {
    const ConvProblem problem = test::random_problem(random, 3000);
    const Geometry g = validate(problem).value();
    const test::Operands given = test::random_operands(random, g);
    const Tensor wanted = compute(problem, given.first, given.second).value();
    const auto against = round % 2 == 0 ? GuardedMemory::Against::end : GuardedMemory::Against::begin;
    const test::GuardedCall call(given, wanted, against);
    const Status status = run(make_plan(g).value(), {{call.first.data(), g.dtype, given.first.shape()},
                                                     {call.second.data(), g.dtype, given.second.shape()},
                                                     {call.result.data(), g.dtype, wanted.shape()}});
    ASSERT_TRUE(status.ok()) << to_text(problem) << ": " << status.message();
    ASSERT_TRUE(call.gave(wanted)) << to_text(problem);
  }
}

TEST(Memory, the_callers_rounding_mode_neither_changes_nor_matters) {
  test::Random random(62);
  const ConvProblem problem = parse_problem("n2c3h9w9_k4r3s3_same_f32_filter_grad").value();
  const Geometry g = validate(problem).value();
  Tensor x = Tensor::zeros(DType::f32, in_shape(g)).value(), dy = Tensor::zeros(DType::f32, out_shape(g)).value();
  for (std::int64_t i = 0; i < x.size(); ++i) test::set(x, i, random.unit());
  for (std::int64_t i = 0; i < dy.size(); ++i) test::set(dy, i, random.unit());
  const Tensor wanted = compute(problem, x, dy).value();
  for (int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const Tensor got = compute(problem, x, dy, {.threads = 3}).value();
    const int after = std::fegetround();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(after, mode);
    EXPECT_EQ(test::difference(got, wanted), "");
  }
}

// Flush denormal operands and results to zero.
#if defined(__x86_64__)
constexpr unsigned kFlush = 0x8040;
unsigned float_modes() { return _mm_getcsr(); }
void set_float_modes(unsigned modes) { _mm_setcsr(modes); }
#elif defined(__aarch64__)
constexpr unsigned kFlush = 1u << 24;
unsigned float_modes() {
  std::uint64_t modes;
  __asm__ volatile("mrs %0, fpcr" : "=r"(modes));
  return static_cast<unsigned>(modes);
}
void set_float_modes(unsigned modes) { __asm__ volatile("msr fpcr, %0" : : "r"(std::uint64_t{modes})); }
#endif

#if defined(__x86_64__) || defined(__aarch64__)
TEST(Memory, the_callers_flush_mode_neither_changes_nor_matters) {
  const ConvProblem problem = parse_problem("n1c1w1_k1s1_valid_f32_forward").value();
  const Tensor tiny = Tensor::from<float>({1, 1, 1}, std::vector<float>{0x1p-140f}).value();
  const Tensor half = Tensor::from<float>({1, 1, 1}, std::vector<float>{0.5f}).value();
  const unsigned before = float_modes();
  set_float_modes(before | kFlush);
  const Tensor got = compute(problem, tiny, half).value();
  const unsigned after = float_modes();
  set_float_modes(before);
  EXPECT_EQ(after & kFlush, kFlush);
  EXPECT_EQ(got.at(0), 0x1p-141);
}
#endif

}  // namespace
}  // namespace convgrad

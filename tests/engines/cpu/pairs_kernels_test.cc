// Products in pairs: every row of pairs.inc that this CPU can run against scalar loops, and the CPU's own
// instructions against the model.
#include "engines/cpu/kernels/pairs/pairs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "engines/cpu/isa.h"
#include "support/problems.h"
#include "support/tolerance.h"

namespace convgrad::cpu {
namespace {

constexpr std::size_t kElements = 60000;

// A call with its memory.
struct Call {
  std::vector<std::uint16_t> a, b;
  std::vector<float> before;
  std::vector<PairRun> runs;
  std::int64_t rows, lanes, a_row, b_vector, c_row;
  bool first;

  std::vector<float> result(const PairKernels& pairs) const {
    std::vector<float> c = before;
    TileShape tiles;
    pairs.multiply({.a = a.data(),
                    .a_row = a_row,
                    .b = b.data(),
                    .b_vector = b_vector,
                    .runs = runs.data(),
                    .run_count = static_cast<std::int64_t>(runs.size()),
                    .c = c.data(),
                    .c_row = c_row,
                    .rows = rows,
                    .lanes = lanes,
                    .first = first,
                    .tiles = &tiles});
    pairs.leave(tiles);
    return c;
  }

  // Calls visit(a, b) for the terms of element (m, n).
  template <class Visit>
  void each_term(std::int64_t m, std::int64_t n, const Visit& visit) const {
    const auto number = [](std::uint16_t bits) { return static_cast<double>(BFloat16{bits}); };
    for (const PairRun& run : runs) {
      for (std::int64_t k = 0; k < run.steps * kPairStep; ++k) {
        const std::int64_t pair = n / 16 * b_vector + k / 2 * 32 + n % 16 * 2 + k % 2;
        visit(number(a[static_cast<std::size_t>(run.a + m * a_row + k)]),
              number(b[static_cast<std::size_t>(run.b + pair)]));
      }
    }
  }
  double old(std::int64_t m, std::int64_t n) const {
    return first ? 0.0 : static_cast<double>(before[static_cast<std::size_t>(m * c_row + n)]);
  }
};

// value() draws a number; rows and lanes around the edges of tiles.
template <class Value>
Call random_call(test::Random& random, const Value& value) {
  Call call;
  call.a.resize(kElements);
  call.b.resize(kElements);
  call.before.resize(kElements);
  for (std::uint16_t& bits : call.a) bits = BFloat16::from(value()).bits;
  for (std::uint16_t& bits : call.b) bits = BFloat16::from(value()).bits;
  for (float& old : call.before) old = static_cast<float>(value());
  call.rows = random.one_of({1, 5, 6, 7, 15, 16, 17, 31, 32, 33, 48, 50, 70});
  call.lanes = random.one_of({1, 8, 15, 16, 17, 31, 32, 33, 48, 63, 64, 70});
  call.a_row = random.between(32, 400);
  call.b_vector = 512 * 8;
  call.c_row = call.lanes + random.between(0, 40);
  call.first = random.between(0, 1) == 0;
  for (std::int64_t run = 0; run < 3; ++run)
    call.runs.push_back({random.between(0, 300), 512 * random.between(0, 2), random.between(1, 5)});
  return call;
}

// Small integers: every order gives the same sum, so a wrong index is the only way to differ.
TEST(PairKernels, give_exact_sums_and_write_nothing_else) {
  for (const PairKernels& pairs : runnable_pairs()) {
    test::Random random(73);
    for (int round = 0; round < 100; ++round) {
      const Call call = random_call(random, [&] { return static_cast<double>(random.between(-8, 8)); });
      std::vector<float> wanted = call.before;
      for (std::int64_t m = 0; m < call.rows; ++m) {
        for (std::int64_t n = 0; n < call.lanes; ++n) {
          double sum = call.old(m, n);
          call.each_term(m, n, [&](double a, double b) { sum += a * b; });
          wanted[static_cast<std::size_t>(m * call.c_row + n)] = static_cast<float>(sum);
        }
      }
      ASSERT_EQ(call.result(pairs), wanted) << pairs.isa << " round " << round;
    }
  }
}

// Where a CPU's pairs differ from the model's bits, both must keep the engine's bound.
void expect_within_the_bound(const PairKernels& pairs, const PairKernels& model) {
  test::Random random(74);
  std::int64_t elements = 0, equal = 0;
  for (int round = 0; round < 60; ++round) {
    const Call call = random_call(random, [&] { return 2 * random.unit() - 1; });
    const std::vector<float> got = call.result(pairs), modelled = call.result(model);
    for (std::int64_t m = 0; m < call.rows; ++m) {
      for (std::int64_t n = 0; n < call.lanes; ++n) {
        const auto at = static_cast<std::size_t>(m * call.c_row + n);
        double exact = call.old(m, n), magnitude = std::fabs(exact);
        call.each_term(m, n, [&](double a, double b) {
          exact += a * b;
          magnitude += std::fabs(a * b);
        });
        const double bound = test::error_bound(DType::f32, exact, magnitude);
        ASSERT_LE(std::fabs(static_cast<double>(got[at]) - exact), bound) << pairs.isa << " round " << round;
        ASSERT_LE(std::fabs(static_cast<double>(modelled[at]) - exact), bound) << "model, round " << round;
        ++elements;
        equal += got[at] == modelled[at] ? 1 : 0;
      }
    }
  }
  std::printf("%s: %lld of %lld sums have the bits of the model\n", std::string(pairs.isa).c_str(),
              static_cast<long long>(equal), static_cast<long long>(elements));
}

const PairKernels* pairs_named(std::string_view isa) {
  for (const PairKernels& pairs : runnable_pairs()) {
    if (pairs.isa == isa) return &pairs;
  }
  return nullptr;
}

TEST(PairKernels, of_amx_agree_with_the_model) {
  const PairKernels* pairs = pairs_named("amx");
  if (pairs == nullptr) GTEST_SKIP() << "this CPU or system has no AMX tiles of bf16";
  expect_within_the_bound(*pairs, *pairs_named("amx_model"));
}

TEST(PairKernels, of_avx512bf16_agree_with_the_model) {
  const PairKernels* pairs = pairs_named("avx512bf16");
  if (pairs == nullptr) GTEST_SKIP() << "this CPU has no AVX512-BF16";
  expect_within_the_bound(*pairs, *pairs_named("amx_model"));
}

TEST(PairKernels, are_taken_unasked_only_where_they_win) {
  ASSERT_EQ(runnable_pairs().back().isa, "amx_model");
  EXPECT_FALSE(runnable_pairs().back().wins);
  for (const PairKernels& pairs : runnable_pairs()) {
    EXPECT_GE(pairs.gain, 1);
    EXPECT_GE(pairs.widest, 1);
  }
}

}  // namespace
}  // namespace convgrad::cpu

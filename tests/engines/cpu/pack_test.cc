// The layouts of kernels/pack, for every instruction set this CPU has, against their formulas.
#include "engines/cpu/kernels/pack/pack.h"

#include <gtest/gtest.h>

#include "engines/cpu/isa.h"
#include "support/problems.h"

namespace convgrad::cpu {
namespace {

constexpr std::size_t kElements = 12000;

std::vector<std::uint16_t> random_bits(test::Random& random) {
  std::vector<std::uint16_t> bits(kElements);
  for (std::uint16_t& value : bits) value = static_cast<std::uint16_t>(random.bits());
  return bits;
}

// Neighbours along columns, along rows, or nowhere.
PackArgs random_matrix(test::Random& random, const std::uint16_t* from) {
  PackArgs args{from, 1, 1, nullptr, 0, random.between(1, 70), random.between(1, 70)};
  const std::int64_t near = random.one_of({1, 1, 2}), far = 70 * near + random.between(0, 9);
  const bool along_columns = random.between(0, 1) == 0;
  args.from_row = along_columns ? far : near;
  args.from_col = along_columns ? near : far;
  return args;
}

TEST(Pack, lays_rows_side_by_side) {
  for (const Kernels& kernels : runnable_kernels()) {
    test::Random random(71);
    for (int round = 0; round < 300; ++round) {
      const std::vector<std::uint16_t> from = random_bits(random), before = random_bits(random);
      std::vector<std::uint16_t> got = before, wanted = before;
      PackArgs args = random_matrix(random, from.data());
      args.to = got.data() + 5;
      args.to_row = args.cols + random.between(0, 40);
      for (std::int64_t r = 0; r < args.rows; ++r) {
        for (std::int64_t c = 0; c < args.cols; ++c)
          wanted[static_cast<std::size_t>(5 + r * args.to_row + c)] = args.from[r * args.from_row + c * args.from_col];
      }
      kernels.pack.rows(args);
      ASSERT_EQ(got, wanted) << kernels.isa << " round " << round;
    }
  }
}

TEST(Pack, lays_rows_out_in_pairs) {
  for (const Kernels& kernels : runnable_kernels()) {
    test::Random random(72);
    for (int round = 0; round < 300; ++round) {
      const std::vector<std::uint16_t> from = random_bits(random), before = random_bits(random);
      std::vector<std::uint16_t> got = before, wanted = before;
      PackArgs args = random_matrix(random, from.data());
      args.to = got.data();
      args.to_row = (args.rows + 1) / 2 * 32 + 32 * random.between(0, 3);
      for (std::int64_t r = 0; r < (args.rows + 1) / 2 * 2; ++r) {
        for (std::int64_t c = 0; c < (args.cols + 15) / 16 * 16; ++c) {
          wanted[static_cast<std::size_t>(c / 16 * args.to_row + r / 2 * 32 + c % 16 * 2 + r % 2)] =
              r < args.rows && c < args.cols ? args.from[r * args.from_row + c * args.from_col] : std::uint16_t{0};
        }
      }
      kernels.pack.pairs(args);
      ASSERT_EQ(got, wanted) << kernels.isa << " round " << round;
    }
  }
}

TEST(Pack, sees_infinities_nans_and_denormals_and_no_others) {
  for (const Kernels& kernels : runnable_kernels()) {
    for (std::int64_t count : {1, 7, 32, 75}) {
      std::vector<std::uint16_t> values(static_cast<std::size_t>(count), 0x8000);
      for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        const std::uint32_t exponent = bits >> 7 & 0xff, fraction = bits & 0x7f;
        values[bits % values.size()] = static_cast<std::uint16_t>(bits);
        ASSERT_EQ(kernels.pack.has_special(values.data(), count), exponent == 0xff || (exponent == 0 && fraction > 0))
            << kernels.isa << " " << std::hex << bits;
        values[bits % values.size()] = 0x3f80;
      }
    }
  }
}

}  // namespace
}  // namespace convgrad::cpu

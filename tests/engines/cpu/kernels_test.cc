// The kernels of every instruction set this CPU has, against scalar loops.
#include "engines/cpu/kernels/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "engines/cpu/isa.h"
#include "support/problems.h"

namespace convgrad::cpu {
namespace {

template <class T>
std::vector<T> random_values(test::Random& random, std::size_t count) {
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(random.between(-8, 8));
  return values;
}

std::vector<Run> random_runs(test::Random& random, std::int64_t a_limit, std::int64_t b_limit) {
  std::vector<Run> runs(static_cast<std::size_t>(random.between(1, 5)));
  for (Run& run : runs) {
    run = {random.between(0, a_limit), random.between(0, b_limit), static_cast<std::int32_t>(random.between(1, 9)),
           static_cast<std::int32_t>(random.between(0, 1))};
  }
  runs.back().closes = 1;
  return runs;
}

// Runs before the last chunk: their sums are in c, even if the last goes elsewhere.
std::size_t runs_of_c(const std::vector<Run>& runs) {
  std::size_t count = runs.size() - 1;
  while (count > 0 && !runs[count - 1].closes) --count;
  return count;
}

template <class T>
T sum_of_runs(const TileArgs<T>& args, std::size_t count, std::int64_t terms, std::int64_t m, std::int64_t l) {
  T sum = T(0);
  for (const Run* run = args.runs; run != args.runs + count; ++run) {
    for (std::int64_t k = 0; k < run->length; ++k)
      sum += args.a[run->a * args.a_unit + k * args.a_step + m * args.a_row + l % terms] *
             args.b[run->b * args.b_unit + k * args.b_step + l];
  }
  return sum;
}

// Small integers: every order gives the same sum, so a wrong index is the only way to differ.
template <class T>
void expect_tile(const TileShapes<T>& shapes, std::int64_t terms, int vectors, int rows, TileArgs<T> args) {
  test::Random random(static_cast<std::uint64_t>(100 * vectors + rows));
  const std::vector<T> a = random_values<T>(random, 4000), b = random_values<T>(random, 4000);
  const std::vector<T> before = random_values<T>(random, 4000);
  const std::vector<Run> runs = random_runs(random, 100, 3);
  std::vector<T> c = before, other = before;
  const bool apart = args.streams || random.between(0, 1) != 0;
  args.a = a.data();
  args.a_row = random.between(1, 70);
  args.a_step = random.between(0, 1) == 0 ? args.a_row : random.between(1, 70);  // equal: taps of neighbouring rows
  args.a_unit = random.between(1, 9);
  args.b = b.data();
  args.b_step = args.lanes + random.between(0, 5);
  args.b_unit = 17;
  args.runs = runs.data();
  args.run_count = static_cast<std::int64_t>(runs.size());
  args.c = c.data() + 3;
  args.c_row = args.lanes + random.between(0, 9);
  const auto misplaced = reinterpret_cast<std::uintptr_t>(other.data()) % 64 / sizeof(T);
  const std::size_t place = args.streams ? (64 / sizeof(T) - misplaced) % (64 / sizeof(T)) : 5;
  args.out = apart ? other.data() + place : args.c;
  args.out_row = !apart ? args.c_row : args.lanes + (args.streams ? 0 : random.between(0, 9));
  std::vector<T> wanted_c = before, wanted_other = before;
  for (std::int64_t m = 0; m < rows; ++m) {
    for (std::int64_t l = 0; l < args.lanes; ++l) {
      T& at_c = wanted_c[static_cast<std::size_t>(3 + m * args.c_row + l)];
      const T start = args.first ? T(0) : at_c, all = start + sum_of_runs(args, runs.size(), terms, m, l);
      if (!apart) at_c = all;
      if (!apart) continue;
      wanted_other[place + static_cast<std::size_t>(m * args.out_row + l)] = all;
      if (runs_of_c(runs) > 0) at_c = start + sum_of_runs(args, runs_of_c(runs), terms, m, l);
    }
  }
  shapes.fn[vectors - 1][rows - 1](args);
  ASSERT_EQ(c, wanted_c) << vectors << " vectors, " << rows << " rows, " << args.lanes << " lanes";
  ASSERT_EQ(other, wanted_other) << vectors << " vectors, " << rows << " rows, " << args.lanes << " lanes";
}

template <class T>
void expect_tiles(const TileTable<T>& table, const TileShapes<T>& shapes, std::int64_t terms) {
  test::Random random(41);
  for (int vectors = 1; vectors <= kMaxTileVectors; ++vectors) {
    for (int rows = 1; rows <= shapes.max_rows[vectors - 1]; ++rows) {
      for (bool first : {false, true}) {
        TileArgs<T> args{};
        args.lanes = random.between((vectors - 1) * table.lanes + 1, vectors * table.lanes);
        args.first = first;
        expect_tile(shapes, terms, vectors, rows, args);
        args.lanes = std::int64_t{vectors} * table.lanes;
        args.streams = true;
        expect_tile(shapes, terms, vectors, rows, args);
      }
    }
  }
}

class KernelsOf : public testing::TestWithParam<int> {
 protected:
  const Kernels& kernels() const { return runnable_kernels()[static_cast<std::size_t>(GetParam())]; }
};

TEST_P(KernelsOf, tiles_multiply_and_add_and_write_nothing_else) {
  const auto expect_all = [](const auto& table) {
    for (std::int64_t i = 0; i < 3; ++i) expect_tiles(table, table.dense[i], std::int64_t{1} << i);
    expect_tiles(table, table.lanewise, kMaxTileVectors * table.lanes);
  };
  expect_all(kernels().f32.tile);
  expect_all(kernels().f64.tile);
  expect_all(kernels().u32.tile);
}

template <class T>
void expect_joins(const SumTable<T>& table) {
  test::Random random(43);
  for (std::int64_t terms : {2, 4}) {
    for (std::int64_t count = 1; count <= 40; ++count) {
      const std::int64_t pitch = (terms * count + 15) / 16 * 16, rows = 3;
      const std::vector<T> from = random_values<T>(random, static_cast<std::size_t>(rows * pitch));
      std::vector<T> to(300, T(77)), wanted = to;
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t i = 0; i < count; ++i) {
          T sum = T(0);
          for (std::int64_t e = 0; e < terms; ++e) sum += from[static_cast<std::size_t>(r * pitch + terms * i + e)];
          wanted[static_cast<std::size_t>(r * (count + 5) + i)] = sum;
        }
      }
      table.join({from.data(), pitch, to.data(), count + 5, rows, count, terms});
      ASSERT_EQ(to, wanted) << count << " of " << terms;
    }
  }
}

TEST_P(KernelsOf, neighbours_are_joined) {
  expect_joins(kernels().f32.sums);
  expect_joins(kernels().f64.sums);
}

template <class T>
void expect_dots(const DotTable<T>& table) {
  test::Random random(42);
  for (std::int64_t cols = 1; cols <= kMaxDotCols; ++cols) {
    for (std::int64_t rows = 1; rows <= 19; rows += 3) {
      const std::vector<T> a = random_values<T>(random, 3000), b = random_values<T>(random, 3000);
      std::vector<Run> runs = random_runs(random, 30, 40);
      for (Run& run : runs) run.length = static_cast<std::int32_t>(random.between(1, 50));
      std::vector<T> got(1000, T(77)), wanted = got;
      const DotArgs<T> args{.a = a.data(),
                            .a_row = 90,
                            .b = b.data(),
                            .b_col = 101,
                            .b_unit = 2,
                            .runs = runs.data(),
                            .run_count = static_cast<std::int64_t>(runs.size()),
                            .c = got.data(),
                            .c_row = cols + 2,
                            .rows = rows};
      for (std::int64_t m = 0; m < rows; ++m) {
        for (std::int64_t n = 0; n < cols; ++n) {
          T sum = T(0);
          for (const Run& run : runs) {
            for (std::int64_t k = 0; k < run.length; ++k) {
              sum += a[static_cast<std::size_t>(m * 90 + run.a + k)] *
                     b[static_cast<std::size_t>(n * 101 + run.b * 2 + k)];
            }
          }
          wanted[static_cast<std::size_t>(m * args.c_row + n)] = sum;
        }
      }
      table.fn[cols - 1](args);
      ASSERT_EQ(got, wanted) << rows << " rows, " << cols << " columns";
    }
  }
}

TEST_P(KernelsOf, dots_add_up_along_the_sum) {
  expect_dots<float>(kernels().f32.dot);
  expect_dots<double>(kernels().f64.dot);
  expect_dots<std::uint32_t>(kernels().u32.dot);
}

// All strides that tensors and panels have: side by side, every second, every third along either index.
TEST_P(KernelsOf, copies_between_all_layouts_and_types) {
  test::Random random(43);
  for (const DTypeInfo& dtype : all_dtypes()) {
    visit(dtype.dtype, [&]<class S>(S) {
      using T = typename DTypeOf<S>::Accumulator;
      for (int round = 0; round < 100; ++round) {
        const std::int64_t rows = random.between(1, 40), cols = random.between(1, 40);
        const std::int64_t step = random.between(1, 3);
        const std::int64_t kinds[][2] = {
            {cols + 3, 1}, {1, rows + 2}, {step * cols + 1, step}, {step, step * rows + 2}};
        const auto& from = kinds[random.between(0, 3)];
        const auto& to = kinds[random.between(0, 3)];
        std::vector<S> narrow(6000);
        for (S& value : narrow) {
          if constexpr (requires { S::from(1.0f); }) {
            value = S::from(static_cast<float>(random.between(-100, 100)));
          } else {
            value = static_cast<S>(random.between(-100, 100));
          }
        }
        std::vector<T> wide(6000, T(5));
        std::vector<S> back(6000);
        kernels().copy.in[static_cast<int>(dtype.dtype)](
            {narrow.data(), from[0], from[1], wide.data(), to[0], to[1], rows, cols});
        kernels().copy.out[static_cast<int>(dtype.dtype)](
            {wide.data(), to[0], to[1], back.data(), from[0], from[1], rows, cols});
        for (std::int64_t r = 0; r < rows; ++r) {
          for (std::int64_t c = 0; c < cols; ++c) {
            const auto at = static_cast<std::size_t>(r * from[0] + c * from[1]);
            ASSERT_EQ(wide[static_cast<std::size_t>(r * to[0] + c * to[1])], static_cast<T>(narrow[at]));
            ASSERT_EQ(std::memcmp(&back[at], &narrow[at], sizeof(S)), 0);
          }
        }
      }
    });
  }
}

template <class S>
void expect_conversions(const CopyTable& copy, DType dtype) {
  std::vector<S> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].bits = static_cast<std::uint16_t>(i);
  std::vector<float> wide(all.size());
  copy.in[static_cast<int>(dtype)]({all.data(), 1, 1, wide.data(), 1, 1, 1, 65536});
  for (std::size_t i = 0; i < all.size(); ++i) {
    const float wanted = static_cast<float>(all[i]);
    if (std::isnan(wanted)) {
      ASSERT_TRUE(std::isnan(wide[i])) << i;
    } else {
      ASSERT_EQ(std::memcmp(&wide[i], &wanted, 4), 0) << i;
    }
  }
  test::Random random(44);
  std::vector<float> values(200000);
  for (float& value : values) {
    const auto bits = static_cast<std::uint32_t>(random.bits());
    std::memcpy(&value, &bits, 4);
  }
  // Halfway between neighbours: ties go to even.
  for (std::size_t i = 0; i + 1 < 60000; ++i) {
    const double mid = (static_cast<double>(wide[i]) + static_cast<double>(wide[i + 1])) / 2;
    values[i] = static_cast<float>(mid);
  }
  std::vector<S> narrow(values.size());
  copy.out[static_cast<int>(dtype)](
      {values.data(), 1, 1, narrow.data(), 1, 1, 1, static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) {
    const S wanted = S::from(values[i]);
    if (std::isnan(values[i])) {
      ASSERT_TRUE(std::isnan(static_cast<float>(narrow[i])));
    } else {
      ASSERT_EQ(narrow[i].bits, wanted.bits) << values[i];
    }
  }
}

TEST_P(KernelsOf, sixteen_bit_types_widen_exactly_and_round_to_even) {
  expect_conversions<Half>(kernels().copy, DType::f16);
  expect_conversions<BFloat16>(kernels().copy, DType::bf16);
}

TEST_P(KernelsOf, folding_keeps_what_addition_loses) {
  std::vector<float> hi(37, 1e8f), lo(37, 0.0f), one(37, 1.0f), out(37);
  for (int i = 0; i < 1000; ++i) kernels().f32.sums.fold({hi.data(), lo.data(), one.data(), nullptr, nullptr, 37});
  kernels().f32.sums.settle({hi.data(), lo.data(), nullptr, nullptr, out.data(), 37});
  for (float value : out) EXPECT_EQ(value, 100001000.0f);
}

TEST_P(KernelsOf, settling_keeps_infinities_and_nans) {
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<float> hi = {inf, 1.0f, -inf}, lo(3, 0.0f), out(3);
  const std::vector<float> block = {1.0f, inf, inf};
  kernels().f32.sums.fold({hi.data(), lo.data(), block.data(), nullptr, nullptr, 3});
  kernels().f32.sums.settle({hi.data(), lo.data(), nullptr, nullptr, out.data(), 3});
  EXPECT_EQ(out[0], inf);
  EXPECT_EQ(out[1], inf);
  EXPECT_TRUE(std::isnan(out[2]));
}

INSTANTIATE_TEST_SUITE_P(Isas, KernelsOf, testing::Range(0, static_cast<int>(runnable_kernels().size())),
                         [](const auto& info) {
                           return std::string(runnable_kernels()[static_cast<std::size_t>(info.param)].isa);
                         });

}  // namespace
}  // namespace convgrad::cpu

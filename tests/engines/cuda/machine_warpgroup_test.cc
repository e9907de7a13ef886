// Products of a warpgroup on the host machine: operands in every layout, and what happens between issue and wait.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "engines/cuda/machine_runs.h"

namespace convgrad::cuda {
namespace {

// An operand of R rows (m or n) by 64 k for four products of 16: where element (row, k) lies and the descriptor of the
// j-th product.
struct Layout {
  const char* name;
  bool transposed;
  int swizzle;
  unsigned shift, pitch;  // the window starts at pixel `shift`; groups of 8 pixels are `pitch` apart
};

// Boxes of 128 pixels: [pixel][64 channels] (128), [channels / 32][pixel][32] (64), [channels / 16][pixel][16] (32), or
// [channels / 8][pixel][8]. Pixels are rows, or k when transposed.
struct Place {
  unsigned base, pixel_bytes, block_bytes;
  Layout layout;

  Place(unsigned base_, const Layout& l)
      : base(base_),
        pixel_bytes(l.swizzle == 0 ? 16u : static_cast<unsigned>(l.swizzle)),
        block_bytes(128 * pixel_bytes),
        layout(l) {}
  unsigned pixel(unsigned i) const { return layout.shift + i / 8 * layout.pitch + i % 8; }
  unsigned at(unsigned row, unsigned k) const {
    const unsigned p = pixel(layout.transposed ? k : row), channel = layout.transposed ? row : k;
    const unsigned wide = pixel_bytes / 2;
    return swizzled_address(base + channel / wide * block_bytes + p * pixel_bytes + 2 * (channel % wide),
                            layout.swizzle);
  }
  std::uint64_t product(unsigned j) const {
    const unsigned start = base + layout.shift * pixel_bytes, group = layout.pitch * pixel_bytes;
    if (layout.transposed) {
      const unsigned from = start + 2 * j * group;
      return layout.swizzle == 0 ? descriptor(from, group, block_bytes, 0)
                                 : descriptor(from, block_bytes, group, layout.swizzle);
    }
    const unsigned from = start + 16 * j / (pixel_bytes / 2) * block_bytes + 32 * j % pixel_bytes;
    return layout.swizzle == 0 ? descriptor(start + 2 * j * block_bytes, block_bytes, group, 0)
                               : descriptor(from, 16, group, layout.swizzle);
  }
};

constexpr unsigned kOperand = 16384;

// Fills both operands, multiplies 64 x 64 by 64 x N and checks all of it.
template <class Element, int N, bool TransposeA, bool TransposeB>
void check_warpgroup(const Layout& layout_a, const Layout& layout_b, std::uint16_t (*encode)(int)) {
  std::vector<float> got(64 * N);
  const auto kernel = [&] {
    const auto t = static_cast<unsigned>(thread_index()), lane = t % 32, warp = t / 32;
    const Place a(0, layout_a), b(kOperand, layout_b);
    for (unsigned i = t; i < 64 * 64; i += 128) shared<std::uint16_t>(a.at(i / 64, i % 64)) = encode(small(i, 3));
    for (unsigned i = t; i < N * 64; i += 128) shared<std::uint16_t>(b.at(i / 64, i % 64)) = encode(small(i, 4));
    fence_for_async();
    sync_block();
    float d[N / 2];
    for (float& x : d) x = 5;
    warpgroup_fence();
    for (unsigned j = 0; j < 4; ++j)
      warpgroup_multiply<Element, N, TransposeA, TransposeB>(d, a.product(j), b.product(j), j > 0);
    warpgroup_commit();
    warpgroup_wait<0>();
    for (unsigned i = 0; i < N / 2; ++i)
      got[(16 * warp + lane / 4 + 8 * (i / 2 % 2)) * N + 8 * (i / 4) + 2 * (lane % 4) + i % 2] = d[i];
  };
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    ASSERT_EQ(run_on_host({.blocks = 1, .threads = 128, .shared_bytes = 4 * kOperand, .seed = seed}, kernel), "")
        << layout_a.name << " by " << layout_b.name;
    for (unsigned m = 0; m < 64; ++m)
      for (unsigned n = 0; n < N; ++n) {
        int expected = 0;
        for (unsigned k = 0; k < 64; ++k) expected += small(64 * m + k, 3) * small(64 * n + k, 4);
        ASSERT_EQ(got[m * N + n], static_cast<float>(expected))
            << layout_a.name << " by " << layout_b.name << " at " << m << ", " << n;
      }
  }
}

std::vector<Layout> layouts(bool transposed) {
  std::vector<Layout> all;
  for (const int swizzle : {128, 64, 32, 0})
    for (const auto& [shift, pitch] : std::vector<std::pair<unsigned, unsigned>>{{0, 8}, {3, 8}, {0, 10}, {11, 10}})
      all.push_back({transposed ? "along m or n" : "along k", transposed, swizzle, shift, pitch});
  return all;
}

TEST(CudaMachineWarpgroup, warpgroup_products_read_shifted_windows_in_every_layout) {
  for (const Layout& k : layouts(false)) {
    check_warpgroup<Bf16, 64, false, false>(k, {"plain", false, 128, 0, 8}, bf16);
    check_warpgroup<Bf16, 64, false, false>({"plain", false, 0, 0, 8}, k, bf16);
  }
  for (const Layout& mn : layouts(true)) {
    check_warpgroup<F16, 64, true, false>(mn, {"plain", false, 64, 0, 8}, f16);
    check_warpgroup<F16, 64, false, true>({"plain", false, 32, 0, 8}, mn, f16);
    check_warpgroup<Bf16, 64, true, true>(mn, mn, bf16);
  }
}

TEST(CudaMachineWarpgroup, warpgroup_products_have_every_width) {
  const Layout plain{"plain", false, 128, 0, 8};
  check_warpgroup<Bf16, 8, false, false>(plain, plain, bf16);
  check_warpgroup<F16, 16, false, false>(plain, plain, f16);
  check_warpgroup<Bf16, 32, false, false>(plain, plain, bf16);
  check_warpgroup<F16, 96, false, false>(plain, plain, f16);
  check_warpgroup<Bf16, 128, false, false>(plain, plain, bf16);
  check_warpgroup<F16, 192, false, false>(plain, plain, f16);
  check_warpgroup<Bf16, 256, false, false>(plain, plain, bf16);
}

// A leading step of one pixel: columns are 3 taps of 32 channels.
TEST(CudaMachineWarpgroup, one_operand_of_a_warpgroup_spans_taps) {
  std::vector<float> got(64 * 96);
  const auto pixel_value = [](unsigned pixel, unsigned channel) { return small(32 * pixel + channel, 6); };
  const auto kernel = [&] {
    const auto t = static_cast<unsigned>(thread_index()), lane = t % 32, warp = t / 32;
    for (unsigned i = t; i < 32 * 32; i += 128)
      shared<std::uint16_t>(swizzled_address(2 * i, 64)) = bf16(pixel_value(i / 32, i % 32));
    const Place a(kOperand, {"plain", false, 128, 0, 8});
    for (unsigned i = t; i < 64 * 16; i += 128) shared<std::uint16_t>(a.at(i / 16, i % 16)) = bf16(small(i, 7));
    fence_for_async();
    sync_block();
    float d[48];
    warpgroup_fence();
    warpgroup_multiply<Bf16, 96, false, true>(d, a.product(0), descriptor(64 * 5, 64, 10 * 64, 64), false);
    warpgroup_commit();
    warpgroup_wait<0>();
    for (unsigned i = 0; i < 48; ++i)
      got[(16 * warp + lane / 4 + 8 * (i / 2 % 2)) * 96 + 8 * (i / 4) + 2 * (lane % 4) + i % 2] = d[i];
  };
  run_clean({.blocks = 1, .threads = 128, .shared_bytes = 2 * kOperand, .seed = 0}, kernel);
  for (unsigned m = 0; m < 64; ++m)
    for (unsigned n = 0; n < 96; ++n) {
      int expected = 0;
      for (unsigned k = 0; k < 16; ++k)
        expected += small(16 * m + k, 7) * pixel_value(5 + k / 8 * 10 + k % 8 + n / 32, n % 32);
      ASSERT_EQ(got[m * 96 + n], static_cast<float>(expected));
    }
}

// Two operands of zeros at 0, stored by thread 0 or all; what happens around one product is the test's.
template <class Around>
void product_of_zeros(bool fence, Around around) {
  for (unsigned i = static_cast<unsigned>(thread_index()); i < 1024; i += 128) shared<std::uint64_t>(8 * i) = 0;
  if (fence) fence_for_async();
  sync_block();
  float d[4] = {1, 1, 1, 1};
  around(d, descriptor(0, 16, 1024, 128));
}

TEST(CudaMachineWarpgroup, refuses_products_of_stores_that_no_fence_followed) {
  const Grid grid{.blocks = 1, .threads = 128, .shared_bytes = 8192, .seed = 0};
  const auto product = [](float(&d)[4], std::uint64_t zeros) {
    warpgroup_fence();
    warpgroup_multiply<Bf16, 8, false, false>(d, zeros, zeros, true);
    warpgroup_commit();
    warpgroup_wait<0>();
    EXPECT_EQ(d[3], 1);
  };
  run_clean(grid, [&] { product_of_zeros(true, product); });
  run_refused(grid, [&] { product_of_zeros(false, product); }, "with no fence_for_async after it");
  const auto copied = [&](bool wait_first) {
    for (unsigned i = static_cast<unsigned>(thread_index()); i < 512; i += 128) copy_async<16>(16 * i, nullptr, false);
    commit_copies();
    if (wait_first) wait_copies<0>();
    fence_for_async();
    if (!wait_first) wait_copies<0>();
    sync_block();
    float d[4] = {1, 1, 1, 1};
    product(d, descriptor(0, 16, 1024, 128));
  };
  run_clean(grid, [&] { copied(true); });
  run_refused(grid, [&] { copied(false); }, "with no fence_for_async after it");
}

TEST(CudaMachineWarpgroup, accumulators_are_poison_until_their_wait) {
  int poisoned = 0;
  run_clean({.blocks = 1, .threads = 128, .shared_bytes = 8192, .seed = 0}, [&] {
    product_of_zeros(true, [&](float(&d)[4], std::uint64_t zeros) {
      float other[4] = {2, 2, 2, 2};
      warpgroup_fence();
      warpgroup_multiply<Bf16, 8, false, false>(d, zeros, zeros, true);
      warpgroup_commit();
      warpgroup_multiply<Bf16, 8, false, false>(other, zeros, zeros, true);
      warpgroup_commit();
      poisoned += std::isnan(d[0]);
      warpgroup_wait<1>();
      EXPECT_EQ(d[0], 1);
      EXPECT_TRUE(std::isnan(other[0]));
      warpgroup_wait<0>();
      EXPECT_EQ(other[0], 2);
    });
  });
  EXPECT_EQ(poisoned, 128 * static_cast<int>(kSeeds));
}

TEST(CudaMachineWarpgroup, operands_overwritten_before_the_wait_show_under_some_seed) {
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    ASSERT_EQ(run_on_host({.blocks = 1, .threads = 128, .shared_bytes = 8192, .seed = seed},
                          [&] {
                            product_of_zeros(true, [&](float(&d)[4], std::uint64_t zeros) {
                              warpgroup_fence();
                              warpgroup_multiply<Bf16, 8, false, false>(d, zeros, zeros, true);
                              warpgroup_commit();
                              if (thread_index() == 127) {
                                for (unsigned i = 0; i < 1024; ++i) shared<std::uint64_t>(8 * i) = 0x3f803f803f803f80u;
                                fence_for_async();
                              }
                              sync_block();
                              warpgroup_wait<0>();
                              wrong += d[0] != 1;
                            });
                          }),
              "");
  }
  EXPECT_GT(wrong, 0);
}

// One warpgroup gives registers up, two take them.
template <int Given, int Taken>
void lend_registers() {
  if (thread_index() < 128)
    give_registers<Given>();
  else
    take_registers<Taken>();
}

TEST(CudaMachineWarpgroup, registers_that_one_gives_others_take) {
  const Grid grid{.blocks = 2, .threads = 384, .shared_bytes = 0, .seed = 0};
  run_clean(grid, lend_registers<40, 232>);
  run_clean(grid, lend_registers<136, 184>);
  run_refused(grid, lend_registers<40, 240>, "wait in take_registers");
  run_refused(grid, lend_registers<176, 176>, "give_registers<176> of a warp that has 168");
  run_refused(grid, lend_registers<40, 160>, "take_registers<160> of a warp that has 168");
  const auto one_warp = [] {
    if (thread_index() < 32) give_registers<40>();
  };
  run_refused(grid, one_warp, "40 and 168 registers in warps of one warpgroup");
}

TEST(CudaMachineWarpgroup, refuses_misused_warpgroup_products) {
  const Grid grid{.blocks = 1, .threads = 128, .shared_bytes = 8192, .seed = 0};
  const auto multiply_zeros = [](float(&d)[4], std::uint64_t zeros) {
    warpgroup_multiply<Bf16, 8, false, false>(d, zeros, zeros, true);
    warpgroup_commit();
  };
  run_refused(grid, [&] { product_of_zeros(true, multiply_zeros); }, "without a warpgroup_fence before it");
  const auto no_wait = [&](float(&d)[4], std::uint64_t zeros) { warpgroup_fence(), multiply_zeros(d, zeros); };
  run_refused(grid, [&] { product_of_zeros(true, no_wait); }, "no warpgroup_wait covers");
  const auto write = [&](float(&d)[4], std::uint64_t zeros) {
    warpgroup_fence(), multiply_zeros(d, zeros), d[0] = 0, warpgroup_wait<0>();
  };
  run_refused(
      grid, [&] { product_of_zeros(true, write); }, "accumulators were written while a warpgroup_multiply had them");
  const auto outside = [&](float(&d)[4], std::uint64_t) {
    warpgroup_fence(), multiply_zeros(d, descriptor(4096, 16, 1024, 128)), warpgroup_wait<0>();
  };
  run_refused(grid, [&] { product_of_zeros(true, outside); }, "shared memory has 8192");
  const auto odd = [&](float(&d)[4], std::uint64_t) { multiply_zeros(d, descriptor(8, 16, 1024, 128)); };
  run_refused(grid, [&] { product_of_zeros(true, odd); }, "not multiples of 16");
}

}  // namespace
}  // namespace convgrad::cuda

// The host machine: each atom against plain loops, and the mistakes it must not forgive.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "engines/cuda/machine_runs.h"

namespace convgrad::cuda {
namespace {

TEST(CudaMachine, runs_every_thread_of_every_block_once) {
  std::vector<int> times(3 * 96);
  run_clean({.blocks = 3, .threads = 96, .shared_bytes = 0, .seed = 0},
            [&] { ++times[block_index() * 96 + static_cast<unsigned>(thread_index())]; });
  EXPECT_EQ(times, std::vector<int>(3 * 96, kSeeds));
}

TEST(CudaMachine, sync_block_separates_stores_from_loads) {
  std::vector<int> seen(256);
  run_clean({.blocks = 1, .threads = 256, .shared_bytes = 1024, .seed = 0}, [&] {
    const auto t = static_cast<unsigned>(thread_index());
    shared<int>(4 * t) = static_cast<int>(t);
    sync_block();
    seen[t] = shared<const int>(4 * (255 - t));
  });
  for (int t = 0; t < 256; ++t) EXPECT_EQ(seen[static_cast<unsigned>(t)], 255 - t);
}

TEST(CudaMachine, shows_a_missing_sync_as_poison_under_some_seed) {
  for (const bool in_warp : {true, false}) {
    int poisoned = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      EXPECT_EQ(run_on_host({.blocks = 1, .threads = 64, .shared_bytes = 256, .seed = seed},
                            [&] {
                              const auto t = static_cast<unsigned>(thread_index());
                              shared<int>(4 * t) = 1;
                              poisoned += shared<const int>(4 * (t ^ (in_warp ? 1 : 32))) == -1;
                            }),
                "");
    }
    EXPECT_GT(poisoned, 0);
  }
}

TEST(CudaMachine, refuses_shared_memory_out_of_range_and_out_of_line) {
  const Grid grid{.blocks = 1, .threads = 32, .shared_bytes = 64, .seed = 0};
  run_refused(grid, [] { shared<int>(64) = 1; }, "shared of 4 bytes at 64: shared memory has 64");
  run_refused(grid, [] { shared<double>(4) = 1; }, "shared at 4: not a multiple of 8");
  EXPECT_EQ(run_on_host({.blocks = 1, .threads = 31, .shared_bytes = 0, .seed = 0}, [] {}),
            "a block of 31 threads; whole warps, at most 1024");
}

TEST(CudaMachine, says_who_waits_for_what_when_stuck) {
  const Grid grid{.blocks = 1, .threads = 64, .shared_bytes = 64, .seed = 0};
  run_refused(
      grid,
      [] {
        if (thread_index() < 32) sync_block();
      },
      "block 0: stuck: threads 0 to 31 wait in sync_block; threads 32 to 63 ended");
  run_refused(grid, [] { sync_some(2, 96); }, "stuck: threads 0 to 63 wait in sync_some(2)");
  run_refused(
      grid,
      [] {
        if (thread_index() % 32 != 7) sync_warp();
      },
      "threads 0 to 6 wait in sync_warp; threads 7");
  const auto nobody_arrives = [] {
    if (thread_index() == 0) barrier_init(8, 3), barrier_arrive(8);
    sync_block();
    barrier_wait(8, 0);
  };
  run_refused(grid, nobody_arrives,
              "threads 0 to 63 wait for parity 0 of the barrier at 8 (in phase 0: 2 arrivals and 0 bytes to come)");
}

TEST(CudaMachine, named_barriers_hold_whole_warps) {
  std::vector<int> seen(96);
  run_clean({.blocks = 1, .threads = 96, .shared_bytes = 1024, .seed = 0}, [&] {
    const auto t = static_cast<unsigned>(thread_index());
    if (t >= 64) return;
    for (int round = 0; round < 3; ++round) {
      shared<int>(4 * t) = round;
      sync_some(1, 64);
      seen[t] = shared<const int>(4 * (63 - t));
      sync_some(2, 64);
      ASSERT_EQ(seen[t], round);
    }
  });
  const Grid grid{.blocks = 1, .threads = 64, .shared_bytes = 0, .seed = 0};
  run_refused(
      grid,
      [] {
        if (thread_index() % 2 == 0) sync_some(1, 32);
      },
      "a warp is there only in part");
  run_refused(grid, [] { sync_some(1, thread_index() < 32 ? 64 : 96); }, "while others wait there for");
  run_refused(grid, [] { sync_some(16, 64); }, "there is no barrier 16");
}

TEST(CudaMachine, lanes_must_meet_in_one_atom) {
  const Grid grid{.blocks = 1, .threads = 32, .shared_bytes = 1024, .seed = 0};
  const auto mixed = [] {
    std::uint32_t r[4];
    if (thread_index() == 3) return sync_warp();
    load_matrices<false>(r, 0);
  };
  run_refused(grid, mixed, "while other threads of the 32 are in");
  run_refused(
      grid,
      [] {
        warpgroup_fence();
        float d[4] = {};
        warpgroup_multiply<Bf16, 8, false, false>(d, 0, 0, true);
      },
      "warpgroup_multiply needs 128 threads");
}

// ---- Copies ----
TEST(CudaMachine, copies_land_at_their_wait_and_not_before_by_right) {
  alignas(16) int source[64];
  for (int i = 0; i < 64; ++i) source[i] = i;
  std::vector<int> early(32), first(32), second(32), absent(32);
  int never_early = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    ASSERT_EQ(run_on_host({.blocks = 1, .threads = 32, .shared_bytes = 1024, .seed = seed},
                          [&] {
                            const auto t = static_cast<unsigned>(thread_index());
                            copy_async<4>(4 * t, source + t, true);
                            commit_copies();
                            copy_async<8>(256 + 8 * t, source + 2 * t, true);
                            copy_async<16>(512 + 16 * t, nullptr, false);
                            commit_copies();
                            sync_warp();
                            early[t] = shared<const int>(4 * t);
                            wait_copies<1>();
                            first[t] = shared<const int>(4 * t);
                            wait_copies<0>();
                            second[t] = shared<const int>(256 + 8 * t + 4);
                            absent[t] = shared<const int>(512 + 16 * t + 12);
                          }),
              "");
    for (unsigned t = 0; t < 32; ++t) {
      EXPECT_EQ(first[t], static_cast<int>(t));
      EXPECT_EQ(second[t], static_cast<int>(2 * t + 1));
      EXPECT_EQ(absent[t], 0);
      EXPECT_TRUE(early[t] == -1 || early[t] == first[t]);
      never_early += early[t] == -1;
    }
  }
  EXPECT_GT(never_early, 0);
}

TEST(CudaMachine, copies_stay_in_the_memory_they_were_told_of) {
  alignas(16) std::byte source[64] = {};
  Grid grid{.blocks = 1, .threads = 32, .shared_bytes = 1024, .seed = 0, .readable = {std::span(source).first(32)}};
  run_refused(grid, [&] { copy_async<8>(0, source + 32, true); }, "copy_async from outside the readable memory");
  run_refused(
      grid, [&] { copy_async<8>(0, source + 4, true); }, "copy_async from an address that is not a multiple of 8");
  run_refused(grid, [&] { copy_async<16>(8, source, true); }, "copy_async at 8: not a multiple of 16");
  run_clean(grid, [&] { copy_async<8>(0, source + 24, true), copy_async<8>(8, source + 99, false), wait_copies<0>(); });
}

// ---- Barriers in shared memory ----
TEST(CudaMachine, a_ring_of_barriers_hands_every_item_over) {
  constexpr int items = 25, stages = 3;
  std::vector<int> sums(64);
  // Warp 0 fills stage s, warps 1 and 2 read it. Barrier of s: full at 16 s, empty at 16 s + 8; data at 64 + 128 s.
  const auto kernel = [&] {
    const auto t = static_cast<unsigned>(thread_index());
    if (t == 0) {
      for (unsigned s = 0; s < stages; ++s) barrier_init(16 * s, 32), barrier_init(16 * s + 8, 64);
      barriers_ready();
    }
    sync_block();
    int sum = 0;
    for (int i = 0; i < items; ++i) {
      const auto s = static_cast<unsigned>(i % stages), parity = static_cast<unsigned>(i / stages % 2);
      if (t < 32) {
        barrier_wait(16 * s + 8, parity ^ 1);
        shared<int>(64 + 128 * s + 4 * t) = 100 * i + static_cast<int>(t);
        barrier_arrive(16 * s);
      } else {
        barrier_wait(16 * s, parity);
        for (unsigned j = 0; j < 32; ++j) sum += shared<const int>(64 + 128 * s + 4 * j);
        barrier_arrive(16 * s + 8);
      }
    }
    if (t >= 32) sums[t - 32] = sum;
  };
  run_clean({.blocks = 2, .threads = 96, .shared_bytes = 64 + 128 * stages, .seed = 0}, kernel);
  EXPECT_EQ(sums, std::vector<int>(64, 32 * 100 * (items * (items - 1) / 2) + items * 31 * 16));
}

TEST(CudaMachine, refuses_misused_barriers) {
  const Grid grid{.blocks = 1, .threads = 32, .shared_bytes = 64, .seed = 0};
  run_refused(grid, [] { barrier_wait(0, 0); }, "barrier_wait: there is no barrier at 0");
  run_refused(grid, [] { barrier_init(4, 1); }, "barrier_init at 4: not a multiple of 8");
  run_refused(grid, [] { barrier_init(0, 1); }, "there is a barrier at 0 already");
  const auto overwrite = [] {
    if (thread_index() == 0) barrier_init(0, 1), shared<int>(4) = 7;
    sync_block();
    barrier_arrive(0);
  };
  run_refused(grid, overwrite, "the barrier at 0 was overwritten");
  const auto once_too_often = [] {
    if (thread_index() == 0) barrier_init(0, 2), barrier_expect(0, 16), barrier_arrive(0), barrier_arrive(0);
  };
  run_refused(grid, once_too_often, "all 2 have arrived in this phase");
}

// ---- Boxes ----
struct BoxCase {
  int swizzle;
  int element_bytes;
  int box[5];
  int strides[5];
  int at[5];
};

// The box by plain loops over a tensor of bytes v(i), in the order of shared memory before the swizzle.
std::vector<std::byte> expected_box(const Box& box, const int (&at)[5]) {
  std::vector<std::byte> bytes;
  const auto* tensor = static_cast<const std::byte*>(box.tensor);
  for (int n = 0; n < box.box[4]; n += box.element_strides[4])
    for (int d = 0; d < box.box[3]; d += box.element_strides[3])
      for (int h = 0; h < box.box[2]; h += box.element_strides[2])
        for (int w = 0; w < box.box[1]; w += box.element_strides[1])
          for (int c = 0; c < box.box[0]; ++c) {
            const std::int64_t p[5] = {at[0] + c, at[1] + w, at[2] + h, at[3] + d, at[4] + n};
            std::int64_t from = p[0] * box.element_bytes;
            bool inside = p[0] >= 0 && p[0] < box.extents[0];
            for (int i = 1; i < 5; ++i) {
              inside = inside && p[i] >= 0 && p[i] < box.extents[i];
              from += p[i] * box.byte_strides[i - 1];
            }
            for (int b = 0; b < box.element_bytes; ++b) bytes.push_back(inside ? tensor[from + b] : std::byte{0});
          }
  return bytes;
}

TEST(CudaMachine, boxes_are_zero_outside_strided_and_swizzled) {
  alignas(16) static std::byte tensor[1 << 17];
  for (unsigned i = 0; i < sizeof tensor; ++i) tensor[i] = static_cast<std::byte>(i * 37 ^ i >> 8);
  const std::int64_t extents[5] = {40, 7, 6, 3, 2};
  for (const BoxCase& c : std::vector<BoxCase>{{128, 2, {64, 10, 4, 1, 1}, {1, 1, 1, 1, 1}, {0, -1, -2, 0, 0}},
                                               {128, 8, {16, 7, 5, 2, 2}, {1, 2, 2, 1, 1}, {32, -1, -1, 2, 1}},
                                               {64, 2, {32, 9, 3, 2, 1}, {1, 3, 1, 1, 1}, {-8, 3, 4, -1, 0}},
                                               {32, 4, {8, 5, 5, 1, 2}, {1, 1, 2, 1, 1}, {36, 4, -3, 1, 0}},
                                               {0, 2, {24, 3, 3, 3, 2}, {1, 1, 1, 2, 1}, {8, 0, 0, 0, 0}}}) {
    Box box{.tensor = tensor,
            .element_bytes = c.element_bytes,
            .extents = {},
            .byte_strides = {},
            .box = {},
            .element_strides = {},
            .swizzle_bytes = c.swizzle};
    std::memcpy(box.extents, extents, sizeof extents);
    std::memcpy(box.box, c.box, sizeof c.box);
    std::memcpy(box.element_strides, c.strides, sizeof c.strides);
    std::int64_t stride = 40 * c.element_bytes;
    for (int i = 0; i < 4; ++i) box.byte_strides[i] = stride, stride *= extents[i + 1];
    const std::vector<std::byte> expected = expected_box(box, c.at);
    const TensorMap map = host_map(box);
    int at[5];
    std::memcpy(at, c.at, sizeof at);
    std::vector<std::byte> got(expected.size());
    const Grid grid{
        .blocks = 1, .threads = 64, .shared_bytes = 32768, .seed = 0, .readable = {std::span<const std::byte>(tensor)}};
    run_clean(grid, [&] {
      if (thread_index() == 0) barrier_init(0, 1), barriers_ready();
      sync_block();
      if (thread_index() == 0) {
        barrier_expect(0, static_cast<unsigned>(expected.size()));
        load_box(1152, map, 0, at);  // a multiple of 128 only
      }
      barrier_wait(0, 0);
      for (unsigned i = static_cast<unsigned>(thread_index()); i < got.size(); i += 64)
        got[i] = shared<const std::byte>(swizzled_address(1152 + i, c.swizzle));
    });
    EXPECT_EQ(got, expected) << "swizzle " << c.swizzle;
  }
}

TEST(CudaMachine, swizzle_of_128_is_chunk_xor_row) {
  for (unsigned row = 0; row < 24; ++row)
    for (unsigned chunk = 0; chunk < 8; ++chunk)
      EXPECT_EQ(swizzled_address(128 * row + 16 * chunk + 5, 128), 128 * row + 16 * (chunk ^ row % 8) + 5);
  EXPECT_EQ(swizzled_address(64 * 2 + 16, 64), 64u * 2);
  EXPECT_EQ(swizzled_address(64 * 3 + 16, 64), 64u * 3);
  EXPECT_EQ(swizzled_address(32 * 4 + 16, 32), 32u * 4);
  EXPECT_EQ(swizzled_address(12345, 0), 12345u);
}

Box plain_box(const std::byte* tensor) {
  return {.tensor = tensor,
          .element_bytes = 2,
          .extents = {64, 8, 1, 1, 1},
          .byte_strides = {128, 1024, 1024, 1024},
          .box = {64, 8, 1, 1, 1},
          .element_strides = {1, 1, 1, 1, 1},
          .swizzle_bytes = 128};
}

void load_once(const TensorMap& map, unsigned to, unsigned bytes, int start, bool ready) {
  if (thread_index() != 0) return;
  barrier_init(2048, 1);
  if (ready) barriers_ready();
  const int at[5] = {start, 0, 0, 0, 0};
  barrier_expect(2048, bytes);
  load_box(to, map, 2048, at);
  barrier_wait(2048, 0);
}

TEST(CudaMachine, refuses_boxes_that_the_hardware_traps_on) {
  alignas(16) static std::byte tensor[1024] = {};
  const Box box = plain_box(tensor);
  const TensorMap map = host_map(box);
  const Grid grid{.blocks = 1, .threads = 32, .shared_bytes = 4096, .seed = 0};
  run_clean(grid, [&] { load_once(map, 0, 1024, 8, true); });
  run_refused(
      grid, [&] { load_once(map, 0, 1024, 4, true); }, "start 4 of the fastest dimension is not at a multiple of 16");
  run_refused(grid, [&] { load_once(map, 64, 1024, 0, true); }, "load_box at 64: not a multiple of 128");
  run_refused(grid, [&] { load_once(map, 3200, 1024, 0, true); }, "shared memory has 4096");
  run_refused(grid, [&] { load_once(map, 0, 1024, 0, false); }, "without barriers_ready");
  run_refused(grid, [&] { load_once(map, 0, 1025, 0, true); }, "0 arrivals and 1 bytes to come");
  Box odd = box;
  odd.byte_strides[0] = 120;
  run_refused(grid, [&] { load_once(host_map(odd), 0, 1024, 0, true); }, "a map that the driver refuses");
}

TEST(CudaMachine, a_box_is_poison_until_its_barrier) {
  alignas(16) static std::byte tensor[1024] = {};
  const Box box = plain_box(tensor);
  const TensorMap map = host_map(box);
  int poisoned = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    ASSERT_EQ(run_on_host({.blocks = 1, .threads = 32, .shared_bytes = 4096, .seed = seed},
                          [&] {
                            if (thread_index() != 0) return;
                            shared<int>(0) = 0;
                            barrier_init(2048, 1), barriers_ready(), barrier_expect(2048, 1024);
                            load_box(0, map, 2048, {0, 0, 0, 0, 0});
                            poisoned += shared<const int>(0) == -1;
                            barrier_wait(2048, 0);
                            EXPECT_EQ(shared<const int>(0), 0);
                          }),
              "");
  }
  EXPECT_GT(poisoned, 0);
}

TEST(CudaMachine, refuses_a_block_that_ends_before_its_box) {
  alignas(16) static std::byte tensor[1024] = {};
  const Box box = plain_box(tensor);
  const TensorMap map = host_map(box);
  int refused = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    refused += run_on_host({.blocks = 1, .threads = 32, .shared_bytes = 4096, .seed = seed}, [&] {
                 if (thread_index() != 0) return;
                 barrier_init(2048, 1), barriers_ready(), barrier_expect(2048, 1024);
                 load_box(0, map, 2048, {0, 0, 0, 0, 0});
               }) == "block 0: ended while a box of 1024 bytes was under way";
  }
  EXPECT_GT(refused, 0);
}

// ---- Products of a warp ----
TEST(CudaMachine, f64_products_are_fma_chains_in_the_order_of_k) {
  double a[16][4], b[4][8], c[16][8], got[16][8];
  for (unsigned i = 0; i < 64; ++i) a[i / 4][i % 4] = 1.0 / (3 + i);
  for (unsigned i = 0; i < 32; ++i) b[i / 8][i % 8] = 1.0 / (7 + 5 * i);
  for (unsigned i = 0; i < 128; ++i) c[i / 8][i % 8] = 1.0 / (11 + i);
  run_clean({.blocks = 1, .threads = 32, .shared_bytes = 0, .seed = 0}, [&] {
    const auto l = static_cast<unsigned>(thread_index()), g = l / 4, t = l % 4;
    const double x[2] = {a[g][t], a[g + 8][t]}, y[1] = {b[t][g]};
    double z[4] = {c[g][2 * t], c[g][2 * t + 1], c[g + 8][2 * t], c[g + 8][2 * t + 1]};
    multiply(z, x, y);
    for (unsigned i = 0; i < 4; ++i) got[g + 8 * (i / 2)][2 * t + i % 2] = z[i];
  });
  for (unsigned m = 0; m < 16; ++m)
    for (unsigned n = 0; n < 8; ++n) {
      double expected = c[m][n];
      for (unsigned k = 0; k < 4; ++k) expected = std::fma(a[m][k], b[k][n], expected);
      EXPECT_EQ(got[m][n], expected);
    }
}

// a[16][16] row by row at 0, b[16][8] row by row at 1024 (rows of 16 bytes), as ldmatrix likes them.
template <class Element>
void check_16_bit_product(std::uint16_t (*encode)(int)) {
  float got[16][8];
  run_clean({.blocks = 1, .threads = 32, .shared_bytes = 2048, .seed = 0}, [&] {
    const auto l = static_cast<unsigned>(thread_index()), g = l / 4, t = l % 4;
    for (unsigned i = l; i < 256; i += 32) shared<std::uint16_t>(2 * i) = encode(small(i, 1));
    for (unsigned i = l; i < 128; i += 32) shared<std::uint16_t>(1024 + 2 * i) = encode(small(i, 2));
    sync_warp();
    std::uint32_t a[4], b[4];
    load_matrices<false>(a, 32 * (l % 16) + 16 * (l / 16));
    load_matrices<true>(b, 1024 + 16 * (l % 16));
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = g + 8 * (i % 2), k = 2 * t + 8 * (i / 2);
      ASSERT_EQ(a[i], pair(encode(small(16 * row + k, 1)), encode(small(16 * row + k + 1, 1))));
      const unsigned from = 2 * t + 8 * (i % 2);
      ASSERT_EQ(b[i], pair(encode(small(8 * from + g, 2)), encode(small(8 * from + 8 + g, 2))));
    }
    float c[4] = {1, 2, 3, 4};
    multiply<Element>(c, a, {b[0], b[1]});
    for (unsigned i = 0; i < 4; ++i) got[g + 8 * (i / 2)][2 * t + i % 2] = c[i];
  });
  for (unsigned m = 0; m < 16; ++m)
    for (unsigned n = 0; n < 8; ++n) {
      int expected = static_cast<int>(1 + n % 2 + 2 * (m / 8));
      for (unsigned k = 0; k < 16; ++k) expected += small(16 * m + k, 1) * small(8 * k + n, 2);
      EXPECT_EQ(got[m][n], static_cast<float>(expected));
    }
}

TEST(CudaMachine, sixteen_bit_fragments_and_matrices_fit_together) {
  check_16_bit_product<Bf16>(bf16);
  check_16_bit_product<F16>(f16);
}

TEST(CudaMachine, sixteen_bit_sums_are_cut_off_toward_zero) {
  float got[2];
  run_clean({.blocks = 1, .threads = 32, .shared_bytes = 0, .seed = 0}, [&] {
    // 2^24 + 3 lies between the floats 2^24 + 2 and 2^24 + 4; the nearest even one is the latter.
    for (const int sign : {1, -1}) {
      float c[4] = {16777216.f * static_cast<float>(sign), 0, 0, 0};
      const std::uint32_t one = pair(bf16(sign), 0), two[2] = {pair(bf16(3), 0), 0};
      const std::uint32_t a[4] = {thread_index() == 0 ? one : 0, 0, 0, 0};
      multiply<Bf16>(c, a, two);
      if (thread_index() == 0) got[sign < 0] = c[0];
    }
  });
  EXPECT_EQ(got[0], 16777218.f);
  EXPECT_EQ(got[1], -16777218.f);
}

TEST(CudaMachine, multiply_add_rounds_once_and_wraps) {
  EXPECT_EQ(multiply_add(1 + 0x1p-30, 1 - 0x1p-30, -1.0), -0x1p-60);
  EXPECT_EQ(multiply_add(1 + 0x1p-13f, 1 - 0x1p-13f, -1.f), -0x1p-26f);
  EXPECT_EQ(multiply_add(0x80000001u, 2u, 5u), 7u);
}

}  // namespace
}  // namespace convgrad::cuda

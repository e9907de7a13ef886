// How problems are cut for the GPU, against counting.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "engines/cuda/kernels/job.h"
#include "engines/cuda/kernels/strips.h"
#include "engines/cuda/program.h"
#include "engines/cuda/tiling.h"
#include "support/oracle.h"
#include "support/problems.h"

namespace convgrad::cuda {
namespace {

TEST(CudaDivider, is_division) {
  for (std::int64_t by : {1, 2, 3, 5, 7, 9, 27, 64, 147, 1000, 65537, 0x3fffffff}) {
    const Divider divider(by);
    for (std::int64_t value : std::vector<std::int64_t>{0, 1, by - 1, by, by + 1, 2 * by - 1, 0x7ffffffe, 0x7fffffff,
                                                        0x7fffffff / by * by, 0x7fffffff / by * by - 1}) {
      if (value < 0 || value > 0x7fffffff) continue;
      EXPECT_EQ(divider.quotient(static_cast<int>(value)), value / by) << value << " / " << by;
      EXPECT_EQ(divider.remainder(static_cast<int>(value)), value % by) << value << " % " << by;
    }
  }
}

TEST(CudaPatches, have_every_pixel_once) {
  test::Random random(61);
  for (int i = 0; i < 200; ++i) {
    PixelGrid grid{random.between(1, 5), {}, {1, 1, 1}};
    for (std::int64_t& extent : grid.extents) extent = random.between(1, 11);
    const Patches patches = patches_for(grid, static_cast<int>(random.between(4, 7)));
    std::set<std::array<int, 4>> seen;
    for (int patch = 0; patch < patches.count; ++patch) {
      const Pixel corner = patches.corner(patch);
      for (int index = 0; index < patches.pixels(); ++index) {
        const Pixel p = patches.at(corner, index);
        if (p.n >= grid.images || p.d >= grid.extents[0] || p.h >= grid.extents[1] || p.w >= grid.extents[2]) continue;
        EXPECT_TRUE(seen.insert({p.n, p.d, p.h, p.w}).second);
      }
    }
    EXPECT_EQ(static_cast<std::int64_t>(seen.size()),
              grid.images * grid.extents[0] * grid.extents[1] * grid.extents[2]);
  }
}

// A box of a patch is the copy engine's: at most 256 elements along an axis.
TEST(CudaPatches, keep_boxes_within_the_copy_engines_limit) {
  const Patches patches = patches_for({1, {1, 1, 4096}, {8, 8, 8}}, 7);
  EXPECT_LE(((1 << patches.w) - 1) * 8 + 1, 256);
}

TEST(CudaSlices, have_whole_rounds_and_bounded_length) {
  EXPECT_EQ(steps_of_slice({.tiles = 132, .steps = 1000, .most_steps = 8192, .slice_bytes = 4}), 1000);
  const std::int64_t steps = steps_of_slice({.tiles = 9, .steps = 100000, .most_steps = 8192, .slice_bytes = 4});
  EXPECT_LE(steps, 8192);
  const std::int64_t slices = (100000 + steps - 1) / steps;
  EXPECT_GE(static_cast<double>(9 * slices) / static_cast<double>((9 * slices + 131) / 132 * 132), 0.9);
  // What a slice leaves behind may not fill the memory.
  EXPECT_EQ(steps_of_slice({.tiles = 1, .steps = 8192, .most_steps = 8192, .slice_bytes = std::int64_t{1} << 30}),
            8192);
}

struct Places {
  std::int64_t field, dense, result;
  auto operator<=>(const Places&) const = default;
};

// Every product that the blocks of a program add, by the places of its factors and its sum.
template <Way way>
std::map<Places, int> products(const Program& program) {
  constexpr int rows = 128, columns = 32, terms = 32;  // of the f32 kernels of 32 columns
  ConvArgs args = program.conv;
  std::map<Places, int> found;
  for (unsigned block = 0; block < program.blocks; ++block) {
    const Job<way, rows, columns, terms> job(args, static_cast<int>(block));
    const int extent[3] = {job.axis(0).extent, job.axis(1).extent, job.axis(2).extent}, one[3] = {1, 1, 1};
    for (int m = 0; m < rows; ++m) {
      if (job.result_m(m) < 0) continue;
      for (int k = 0; k < job.steps() * terms; ++k) {
        const Spot a = job.field_m(m) + job.field_k(k / terms, k % terms);
        if (!inside(a, extent)) continue;
        for (int n = 0; n < columns; ++n) {
          const Spot b = job.dense_n(n) + job.dense_k(k / terms, k % terms);
          if (inside(b, one)) ++found[{a.offset, b.offset, job.result_m(m) + job.result_n(n)}];
        }
      }
    }
  }
  return found;
}

std::map<Places, int> wanted_products(const Geometry& g) {
  std::map<Places, int> wanted;
  test::for_each_term(g, [&](const test::Term& t) {
    switch (g.direction) {
      case Direction::forward: ++wanted[{t.in, t.filter, t.out}]; break;
      case Direction::input_grad: ++wanted[{t.out, t.filter, t.in}]; break;
      default: ++wanted[{t.in, t.out, t.filter}]; break;
    }
  });
  return wanted;
}

std::map<Places, int> products_of(const Program& program) {
  switch (program.geometry.direction) {
    case Direction::forward: return products<Way::forward>(program);
    case Direction::input_grad: return products<Way::input_grad>(program);
    default: return products<Way::filter_grad>(program);
  }
}

TEST(CudaJob, adds_every_product_exactly_once) {
  test::Random random(62);
  int compared = 0;
  for (int i = 0; i < 1000; ++i) {
    ConvProblem problem = test::random_problem(random, 100);
    if (problem.direction == Direction::bias_grad || problem.c_in == 0) continue;
    const std::int64_t groups = problem.c_in / problem.filter_c;
    problem.dtype = DType::f32;
    problem.filter_c = random.between(16, 20);  // too many for a thread's own results, or for taps beside them
    problem.c_in = groups * problem.filter_c;
    const Result<Geometry> g = validate(problem);
    if (!g.ok()) continue;
    ASSERT_EQ(objection(*g), "") << to_text(problem);
    ASSERT_EQ(products_of(program_for(*g, {.hopper = false})), wanted_products(*g)) << to_text(problem);
    ++compared;
  }
  EXPECT_GT(compared, 500);
}

TEST(CudaProgram, objects_to_what_has_no_32_bit_coordinates) {
  const auto objected = [](const char* text) { return objection(validate(parse_problem(text).value()).value()); };
  EXPECT_EQ(objected("n1c1h8w8_k1r3s3_same_f32_forward"), "");
  EXPECT_EQ(objected("n1c1h1w1_k1r1s1_st2147483647_same_f32_input_grad"), "");
  EXPECT_NE(objected("n1c1w3_k1s2_di1500000000_pad1500000000.0_f32_forward"), "");
}

TEST(CudaProgram, copies_what_the_copy_engine_cannot_read) {
  const auto program = [](const char* text) { return program_for(validate(parse_problem(text).value()).value(), {}); };
  const Program planes = program("n2c60h8w8_k64r3s3_same_f32_forward");
  ASSERT_TRUE(planes.field && planes.dense);
  EXPECT_EQ(planes.field->channels, 64);
  EXPECT_EQ(planes.field->plane, 2 * 8 * 8 * 64);
  EXPECT_EQ(planes.dense->at, 3 * 2 * planes.field->plane);
  EXPECT_EQ(planes.workspace_bytes, planes.dense->at + 3 * 2 * 9 * 60 * 64);
  EXPECT_TRUE(program("n2c64h8w8_k64r3s3_same_chfirst_bf16_forward").field);
  const Program two = program_for(planes.geometry, {}, MathMode::tf32);  // two planes, and nothing of a third
  EXPECT_EQ(two.dense->at, 2 * 2 * planes.field->plane);
  EXPECT_EQ(two.workspace_bytes, two.dense->at + 2 * 2 * 9 * 60 * 64);
  EXPECT_EQ(two.launches({}).back().boxes.size(), 4u);
  EXPECT_EQ(planes.launches({}).back().boxes.size(), 6u);
  EXPECT_FALSE(program("n2c8h8w8_k64r1s1_same_f32_forward").field);  // too few channels to fill a row
}

// 99 KB, on GPUs of compute capability 8.6 and 8.9.
TEST(CudaProgram, stays_within_the_shared_memory_of_any_gpu) {
  const Hardware small{.hopper = false, .shared_bytes = 99 << 10};
  for (const char* dtype : {"f64", "f32", "bf16", "f16"})
    for (const char* direction : {"forward", "input_grad", "filter_grad"})
      for (const char* shape : {"n4c300h40w40_k300r3s3_same_", "n4c20h40w40_k20r3s3_same_"}) {
        const std::string text = std::string(shape) + dtype + "_" + direction;
        const Program program = program_for(validate(parse_problem(text).value()).value(), small);
        for (const Launch& launch : program.launches({}))
          EXPECT_LE(launch.shared_bytes, small.shared_bytes) << text << " " << info(launch.kernel).name;
      }
}

TEST(CudaProgram, takes_short_rows_where_long_ones_would_be_half_empty) {
  const auto program = [](const char* text) { return program_for(validate(parse_problem(text).value()).value(), {}); };
  EXPECT_EQ(info(*program("n2c32h4w4_k64r3s3_same_bf16_forward").boxes).name, "forward_bf16_half_boxes_128x64");
  EXPECT_EQ(info(*program("n2c96h8w8_k64r3s3_same_f32_filter_grad").boxes).name, "filter_grad_f32_half_boxes_128x64");
  EXPECT_EQ(info(*program("n2c64h8w8_k96r3s3_same_f16_input_grad").any).name, "input_grad_f16_half_gather_128x64");
  EXPECT_EQ(info(*program("n2c40h4w4_k64r3s3_same_bf16_forward").boxes).name, "forward_bf16_boxes_128x64");
}

// A patch with its halo needs the filter beside it in shared memory, patches that images fill, and taps that share it.
TEST(CudaProgram, loads_a_halo_once_where_that_saves_half) {
  const auto kernel = [](const char* text) {
    return info(program_for(validate(parse_problem(text).value()).value(), {}).main_kernel()).name;
  };
  EXPECT_EQ(kernel("n2c64h56w56_k64r3s3_same_bf16_forward"), "forward_bf16_halo_64x64");
  EXPECT_EQ(kernel("n2c32d64h64w64_k64t3r3s3_same_bf16_input_grad"), "input_grad_bf16_halo_64x32");
  EXPECT_EQ(kernel("n2c32d64h64w64_k64t3r3s3_same_bf16_forward"), "forward_bf16_half_halo_64x64");
  EXPECT_EQ(kernel("n2c64d16h16w16_k64t3r3s3_same_f16_forward"), "forward_f16_halo_64x32");  // half of the filter fits
  EXPECT_EQ(kernel("n2c64d16h16w16_k128t3r3s3_same_f16_forward"), "forward_f16_boxes_128x128");
  EXPECT_EQ(kernel("n2c64h56w56_k64r3s3_st2_same_bf16_input_grad"), "input_grad_bf16_halo_64x64");
  EXPECT_EQ(kernel("n2c64h56w56_k64r3s3_st2_same_bf16_forward"), "forward_bf16_boxes_128x64");
  EXPECT_EQ(kernel("n2c64h56w56_k64r2s2_st2_same_bf16_input_grad"), "input_grad_bf16_boxes_128x64");  // one tap each
  EXPECT_EQ(kernel("n64c64h56w56_k64r3s3_same_bf16_filter_grad"), "filter_grad_bf16_halo_640x64");
  EXPECT_EQ(kernel("n2c32d64h64w64_k64t3r3s3_same_bf16_filter_grad"), "filter_grad_bf16_half_halo_512x64");
  EXPECT_EQ(kernel("n2c64d64h64w64_k64t3r3s3_same_bf16_filter_grad"), "filter_grad_bf16_halo_512x64");
  EXPECT_EQ(kernel("n2c64h56w56_k64r3s3_st2_same_bf16_filter_grad"), "filter_grad_bf16_boxes_128x64");
  EXPECT_EQ(kernel("n2c128h56w56_k64r3s3_same_bf16_forward"), "forward_bf16_boxes_128x64");
  EXPECT_EQ(kernel("n2c64h9w9_k64r3s3_same_bf16_forward"), "forward_bf16_boxes_128x64");
  EXPECT_EQ(kernel("n2c64h56w56_k64r3s3_di6_same_bf16_forward"), "forward_bf16_boxes_128x64");
}

TEST(CudaProgram, takes_boxes_for_aligned_channels_and_threads_for_the_rest) {
  const auto program = [](const char* text) { return program_for(validate(parse_problem(text).value()).value(), {}); };
  EXPECT_EQ(info(*program("n2c64h8w8_k64r1s1_same_bf16_forward").boxes).name, "forward_bf16_boxes_128x64");
  EXPECT_EQ(info(*program("n2c32h8w8_k128r3s3_same_f64_filter_grad").boxes).name, "filter_grad_f64_boxes_128x64");
  EXPECT_FALSE(program("n2c64h8w8_k64r3s3_same_bf16_forward").field);
  EXPECT_FALSE(program("n2c64h8w8_k64r3s3_same_chfirst_f64_forward").boxes);
  EXPECT_FALSE(program("n2c10h8w8_k64r1s1_same_bf16_forward").boxes);
  EXPECT_FALSE(program("n2c64h20w20_k64r3s3_st9_same_f64_forward").boxes);
  EXPECT_EQ(info(*program("n2c64h8w8_k3r3s3_same_f64_forward").any).name, "forward_f64_128x8");
  EXPECT_EQ(info(*program("n2c64h8w8_k64r3s3_g32_same_f32_forward").any).name, "forward_f32_direct_last");
}

TEST(CudaProgram, takes_strips_for_depthwise_layers) {
  const auto kernel = [](const std::string& text) {
    return std::string(info(program_for(validate(parse_problem(text).value()).value(), {}).main_kernel()).name);
  };
  EXPECT_EQ(kernel("n2c64h8w8_k64r3s3_g64_same_f32_forward"), "forward_f32_strips_pieces_last");
  EXPECT_EQ(kernel("n2c63h8w8_k63r3s3_g63_same_f32_forward"), "forward_f32_strips_last");
  EXPECT_EQ(kernel("n2c64h8w8_k64r3s3_g64_st2_same_chfirst_bf16_input_grad"), "input_grad_bf16_strips_first");
  EXPECT_EQ(kernel("n2c64d4h8w8_k64t3r3s3_g64_same_f16_filter_grad"), "filter_grad_f16_strips_pieces_last");
  EXPECT_EQ(kernel("n2c64h8w8_k64r3s3_g64_same_f64_filter_grad"), "filter_grad_f64_strips_last");
  // Two results a channel, taps apart, long strides, more taps than a chunk has terms, integers.
  EXPECT_EQ(kernel("n2c64h8w8_k128r3s3_g64_same_f32_forward"), "forward_f32_direct_last");
  EXPECT_EQ(kernel("n2c64h8w8_k64r3s3_g64_di2_same_f32_forward"), "forward_f32_direct_last");
  EXPECT_EQ(kernel("n2c64h9w9_k64r3s3_g64_st3_same_f32_input_grad"), "input_grad_f32_direct_last");
  EXPECT_EQ(kernel("n2c64h9w9_k64r9s9_g64_same_f32_forward"), "forward_f32_direct_last");
  EXPECT_EQ(kernel("n2c64h9w9_k64r9s9_g64_same_f32_filter_grad"), "filter_grad_f32_strips_pieces_last");
  EXPECT_EQ(kernel("n2c64h9w9_k64r3s3_g64_same_i32_forward"), "forward_i32_direct_last");
}

TEST(CudaProgram, gives_a_thread_of_a_strip_no_more_terms_than_its_sum_may_have) {
  for (const char* text :
       {"n64c8h224w224_k8r3s3_g8_same_f32_filter_grad", "n64c4096h56w56_k4096r3s3_g4096_same_f16_filter_grad",
        "n64c8h224w224_k8r3s3_g8_st2_same_chfirst_f64_filter_grad"}) {
    const Geometry g = validate(parse_problem(text).value()).value();
    const Program program = program_for(g, {});
    ASSERT_TRUE(program.strips) << text;
    const bool planar = g.layout == Layout::channels_first;
    const std::int64_t rows = kStripThreads / strip_lanes(planar);
    const int pixels = strip_pixels(planar, false, size_of(g.dtype), program.strips->step);
    EXPECT_LE(ceil_div(program.strips->slice_strips, rows) * pixels, kStripBlock) << text;
    EXPECT_GE(program.slices * program.strips->slice_strips, program.strips->units) << text;
    EXPECT_LT((program.slices - 1) * program.strips->slice_strips, program.strips->units) << text;
  }
}

}  // namespace
}  // namespace convgrad::cuda

// Layers of few input channels: which are folded, and that they give what the definition gives.
#include "engines/cuda/fold.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "engines/cuda/program_runs.h"
#include "support/accuracy.h"

namespace convgrad::cuda {
namespace {

Geometry geometry_of(const std::string& text) { return validate(parse_problem(text).value()).value(); }

TEST(CudaFold, moves_taps_into_channels) {
  const std::optional<Fold> stem = folded(geometry_of("n64c3h224w224_k64r7s7_st2_pad3.3_bf16_forward"), true);
  ASSERT_TRUE(stem);
  EXPECT_EQ(stem->product.c_in, 3 * 7);
  EXPECT_EQ(stem->product.in, (Extents{1, 224, 112}));
  EXPECT_EQ(stem->product.filter, (Extents{1, 7, 1}));
  EXPECT_EQ(stem->product.stride, (Extents{1, 2, 1}));
  EXPECT_EQ(stem->product.pad_before, (Extents{0, 3, 0}));
  EXPECT_EQ(stem->product.out, (Extents{1, 112, 112}));
  EXPECT_EQ(stem->taps.filter, (Extents{1, 1, 7}));
  EXPECT_EQ(stem->taps.in, (Extents{1, 224, 224}));
  EXPECT_EQ(stem->taps.out, (Extents{1, 224, 112}));
  EXPECT_EQ(folded(geometry_of("n8c3d16h112w112_k64t3r3s3_same_f32_filter_grad"), true)->product.c_in, 3 * 3 * 3);
  EXPECT_EQ(folded(geometry_of("n8c9h16w16_k64r3s3_same_bf16_forward"), false)->product.c_in, 9 * 3);
  EXPECT_EQ(folded(geometry_of("n8c1d16h16w16_k64t3r3s3_same_f16_forward"), true)->product.c_in, 27);
}

TEST(CudaFold, is_for_few_channels_of_one_group) {
  const auto folds = [](const char* text, bool hopper) { return folded(geometry_of(text), hopper).has_value(); };
  EXPECT_TRUE(folds("n8c3h32w32_k64r7s7_same_f32_forward", true));
  EXPECT_FALSE(folds("n8c3h32w32_k64r7s7_same_f32_forward", false));  // no planes
  EXPECT_FALSE(folds("n8c3h32w32_k32r3s3_same_f32_forward", true));   // planes cost more than they save
  EXPECT_TRUE(folds("n8c3h32w32_k64r3s3_same_f32_input_grad", false));
  EXPECT_FALSE(folds("n8c3h32w32_k64r3s3_same_f64_forward", true));
  EXPECT_FALSE(folds("n8c3h32w32_k64r3s3_same_i32_forward", true));
  EXPECT_FALSE(folds("n8c16h32w32_k64r3s3_same_bf16_forward", true));  // rows are filled
  EXPECT_FALSE(folds("n8c8h32w32_k64r3s3_same_bf16_forward", true));   // gathered 16 bytes at a time
  EXPECT_TRUE(folds("n8c8h32w32_k64r3s3_same_chfirst_bf16_forward", true));
  EXPECT_FALSE(folds("n8c6h32w32_k64r3s3_g2_same_bf16_forward", true));
  EXPECT_FALSE(folds("n8c3h32w32_k64r1s1_same_bf16_forward", true));  // no taps
  EXPECT_FALSE(folds("n8c1h32w32_k64r3s3_same_bf16_forward", true));  // 9 of 32 channels
  EXPECT_FALSE(folds("n0c3h32w32_k64r3s3_same_bf16_forward", true));
}

// The sums between take bytes too: what few output channels save is less.
TEST(CudaFold, is_for_input_gradients_that_load_more_than_the_sums_between) {
  const auto folds = [](const char* text) { return folded(geometry_of(text), true).has_value(); };
  EXPECT_TRUE(folds("n8c3h32w32_k16r3s3_same_bf16_input_grad"));
  EXPECT_TRUE(folds("n8c15h32w32_k64r3s3_same_bf16_input_grad"));
  EXPECT_FALSE(folds("n8c15h32w32_k16r3s3_same_bf16_input_grad"));
}

// 2^30 elements, or a workspace of more than 2 GB that is more than 4 times the tensors.
TEST(CudaFold, leaves_out_what_is_too_large) {
  EXPECT_TRUE(folded(geometry_of("n2048c3h112w112_k64r3s3_same_bf16_forward"), true));
  EXPECT_FALSE(folded(geometry_of("n4096c3h112w112_k64r3s3_same_bf16_forward"), true));
  EXPECT_TRUE(folded(geometry_of("n300c1h128w223_k16r1s96_valid_f32_input_grad"), true));
  EXPECT_FALSE(folded(geometry_of("n500c1h128w223_k16r1s96_valid_f32_input_grad"), true));
}

TEST(CudaFold, is_told_and_has_its_workspace) {
  const Program forward = program_for(geometry_of("n2c3h8w8_k64r3s3_same_bf16_forward"), {});
  EXPECT_NE(forward.why.find("taps of h and w folded into 27 channels"), std::string::npos) << forward.why;
  EXPECT_EQ(forward.workspace_bytes, 2 * 8 * 8 * 32 * 2);
  EXPECT_FALSE(forward.dense);  // 64 output channels are read as they are
  EXPECT_EQ(info(*forward.boxes).name, "forward_bf16_half_boxes_128x64");
  const Program backward = program_for(geometry_of("n2c3h8w8_k64r3s3_same_bf16_input_grad"), {});
  EXPECT_EQ(backward.workspace_bytes, 2 * 8 * 8 * 27 * 4);
  EXPECT_EQ(info(backward.launches({}).back().kernel).name, "unfold_bf16");
}

// First layers with everything else at random.
ConvProblem first_layer(test::Random& random) {
  ConvProblem p;
  p.rank = static_cast<int>(random.between(1, 3));
  p.direction = random.one_of({Direction::forward, Direction::input_grad, Direction::filter_grad});
  p.dtype = random.one_of({DType::f32, DType::bf16, DType::f16});
  p.layout = random.one_of({Layout::channels_last, Layout::channels_first});
  p.c_in = p.filter_c = random.between(1, 7);
  p.c_out = random.one_of({9, 16, 24, 40, 64, 72, 96});
  p.n = random.between(1, 3);
  p.padding = random.one_of({PaddingKind::same, PaddingKind::valid, PaddingKind::explicit_pairs});
  const std::int64_t longest = p.rank == 1 ? 12 : p.rank == 2 ? 6 : 3;
  for (std::size_t i = 0; i < 3; ++i) {
    p.filter[i] = random.between(1, longest);
    p.stride[i] = random.between(1, 3);
    p.dilation[i] = random.between(1, 2);
    p.pads[i] = {random.between(0, 4), random.between(0, 4)};
    p.in[i] = random.between(3, p.rank == 3 ? 6 : 12);
  }
  return p;
}

using Kind = std::tuple<Direction, DType, bool>;  // the last: on Hopper

// 2 x 3 types x 3 directions, but f32 forward and filter gradient before Hopper.
constexpr std::size_t kKinds = 16;

TEST(CudaFold, equals_the_definition) {
  test::Random random(81);
  std::map<Kind, int> compared;
  for (int i = 0; i < 1500; ++i) {
    const ConvProblem problem = first_layer(random);
    const Result<Geometry> g = validate(problem);
    const bool hopper = i % 2 == 0;
    if (!g.ok() || !folded(*g, hopper)) continue;
    const test::Operands given = test::random_operands(random, *g);
    const Setting setting{.hardware = {.hopper = hopper},
                          .seed = static_cast<std::uint64_t>(i),
                          .shift = static_cast<std::size_t>(i % 3 == 0)};
    ASSERT_EQ(test::difference(run(*g, given, setting), test::by_definition(*g, given.first, given.second)), "")
        << to_text(problem) << (hopper ? " hopper" : "") << " shift " << setting.shift;
    ++compared[{g->direction, g->dtype, hopper}];
  }
  EXPECT_EQ(compared.size(), kKinds);
  for (const auto& [kind, count] : compared) EXPECT_GE(count, 8) << static_cast<int>(std::get<0>(kind));
}

// Zeros between and beside taps are no terms, whatever stands on the other side.
TEST(CudaFold, multiplies_no_padding) {
  test::Random random(82);
  std::map<Kind, std::int64_t> infinite, finite;
  for (int i = 0; i < 1000; ++i) {
    const ConvProblem problem = first_layer(random);
    const Result<Geometry> g = validate(problem);
    const bool hopper = i % 2 == 0;
    if (!g.ok() || !folded(*g, hopper)) continue;
    test::Operands given = test::random_operands(random, *g);
    put_infinities(random, given);
    const Tensor got = run(*g, given, {.hardware = {.hopper = hopper}, .seed = static_cast<std::uint64_t>(i)});
    ASSERT_EQ(unlike_reference(*g, given, got), "") << to_text(problem) << (hopper ? " hopper" : "");
    infinite[{g->direction, g->dtype, hopper}] += not_finite(got);
    finite[{g->direction, g->dtype, hopper}] += got.size() - not_finite(got);
  }
  EXPECT_EQ(infinite.size(), kKinds);
  for (const auto& [kind, count] : infinite) EXPECT_TRUE(count > 0 && finite[kind] > 0);
}

// One infinity in the filter, at a tap that falls on padding for the first and last columns of results.
TEST(CudaFold, keeps_results_beside_padding_finite) {
  test::Random random(83);
  for (const char* dtype : {"f32", "bf16"})
    for (const char* layout : {"chlast", "chfirst"}) {
      const Geometry g = geometry_of(std::string("n1c3h6w6_k16r3s3_same_") + layout + "_" + dtype + "_forward");
      test::Operands given = test::random_operands(random, g);
      test::set(given.second, 0, std::numeric_limits<double>::infinity());  // tap (0, 0), channel 0
      const Tensor got = run(g, given, {});
      EXPECT_EQ(unlike_reference(g, given, got), "");
      EXPECT_LE(not_finite(got), 5 * 5);
      EXPECT_GT(not_finite(got), 0);
    }
}

TEST(CudaFold, gives_the_same_bits_at_any_address) {
  test::Random random(84);
  int compared = 0;
  for (int i = 0; i < 200; ++i) {
    const Result<Geometry> g = validate(first_layer(random));
    const bool hopper = i % 2 == 0;
    if (!g.ok() || !folded(*g, hopper)) continue;
    const test::Operands given = test::real_operands(random, *g);
    const Tensor first = run(*g, given, {.hardware = {.hopper = hopper}});
    ASSERT_EQ(test::difference(run(*g, given, {.hardware = {.hopper = hopper}, .seed = 99, .shift = 1}), first), "")
        << to_text(problem_of(*g));
    ++compared;
  }
  EXPECT_GT(compared, 40);
}

TEST(CudaFold, stays_within_the_stated_bound) {
  test::Random random(85);
  for (const char* shape : {"n2c3h20w20_k64r3s3_same_", "n1c3h23w23_k64r7s7_st2_same_", "n1c2w70_k128s24_same_"})
    for (const char* dtype : {"f16", "bf16", "f32"})
      for (const char* direction : {"_forward", "_input_grad", "_filter_grad"})
        for (bool hopper : {false, true}) {
          const Geometry g = geometry_of(std::string(shape) + dtype + direction);
          if (!folded(g, hopper)) continue;
          test::Operands given = test::real_operands(random, g);
          for (Tensor* tensor : {&given.first, &given.second})  // one sign: rounding errors add up
            for (std::int64_t at = 0; at < tensor->size(); ++at) test::set(*tensor, at, std::fabs(tensor->at(at)));
          const Tensor got = run(g, given, {.hardware = {.hopper = hopper}});
          EXPECT_LE(test::worst_share(g, given.first, given.second, got), 1.0) << to_text(problem_of(g));
        }
}

}  // namespace
}  // namespace convgrad::cuda

// Every kernel of the CUDA engine, run on the host machine, against the definition.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "engines/cuda/program_runs.h"
#include "support/accuracy.h"

namespace convgrad::cuda {
namespace {

// In [0, 1): of one sign, so that rounding errors add up.
test::Operands positive_operands(test::Random& random, const Geometry& g) {
  test::Operands given = test::real_operands(random, g);
  for (Tensor* tensor : {&given.first, &given.second})
    for (std::int64_t at = 0; at < tensor->size(); ++at) test::set(*tensor, at, std::fabs(tensor->at(at)));
  return given;
}

// Channels that fill rows of 128 bytes, in part or whole, so that the copy engine can be used.
ConvProblem wide_problem(test::Random& random) {
  ConvProblem p;
  p.rank = static_cast<int>(random.between(1, 3));
  p.direction = random.one_of({Direction::forward, Direction::input_grad, Direction::filter_grad});
  p.dtype = random.one_of({DType::f64, DType::f32, DType::bf16, DType::f16});
  p.layout = random.one_of({Layout::channels_last, Layout::channels_first});
  const std::int64_t piece = p.dtype == DType::f64 ? 2 : 8, groups = random.between(1, 2);
  p.filter_c = piece * random.between(2, 9);
  p.c_in = p.filter_c * groups;
  p.c_out = piece * random.between(1, 9) * groups;
  p.n = random.between(1, 3);
  p.padding = random.one_of({PaddingKind::same, PaddingKind::valid});
  for (std::size_t i = 0; i < 3; ++i) {
    p.filter[i] = random.between(1, 3);
    p.stride[i] = random.between(1, 3);
    p.dilation[i] = random.between(1, 2);
    p.in[i] = random.between(5, 7);
  }
  return p;
}

// Everything at random, and more channels than a thread's own results are for.
ConvProblem any_problem(test::Random& random) {
  ConvProblem p = test::random_problem(random, 1000);
  if (p.direction == Direction::bias_grad || p.c_in == 0 || p.c_out == 0 || random.between(0, 3) == 0) return p;
  const std::int64_t groups = p.c_in / p.filter_c;
  p.filter_c = random.between(9, 40);
  p.c_in = groups * p.filter_c;
  p.c_out = groups * random.between(1, 40);
  return p;
}

// One channel a group, and sizes that leave strips, groups of rows and pieces of channels whole or not.
ConvProblem depthwise_problem(test::Random& random) {
  ConvProblem p;
  p.rank = static_cast<int>(random.between(1, 3));
  p.direction = random.one_of({Direction::forward, Direction::input_grad, Direction::filter_grad});
  p.dtype = random.one_of({DType::f64, DType::f32, DType::bf16, DType::f16});
  p.layout = random.one_of({Layout::channels_last, Layout::channels_first});
  p.filter_c = 1;
  p.c_in = p.c_out = random.one_of({1, 3, 4, 6, 8, 12, 20, 32});
  p.n = random.between(1, 3);
  p.padding = random.one_of({PaddingKind::same, PaddingKind::valid, PaddingKind::explicit_pairs});
  for (std::size_t i = 0; i < 3; ++i) {
    p.filter[i] = random.between(1, i == 0 ? 3 : 7);
    p.stride[i] = random.one_of({1, 1, 2, 2, 3});
    p.dilation[i] = random.one_of({1, 1, 1, 1, 2});
    p.in[i] = random.between(1, i == 0 ? 3 : 14);
    if (p.padding == PaddingKind::explicit_pairs) p.pads[i] = {random.between(0, 4), random.between(0, 4)};
  }
  return p;
}

TEST(CudaKernels, equal_the_definition) {
  test::Random random(71);
  std::int64_t compared = 0;
  const std::int64_t count = std::min<std::int64_t>(test::problem_count(), 2000);
  for (std::int64_t i = 0; i < count; ++i) {
    const ConvProblem problem = i % 10 == 0   ? wide_problem(random)
                                : i % 10 <= 3 ? depthwise_problem(random)
                                              : any_problem(random);
    const Result<Geometry> g = validate(problem);
    if (!g.ok()) continue;
    const test::Operands given = test::random_operands(random, *g);
    const Setting setting{.hardware = {.hopper = i % 2 == 0},
                          .seed = static_cast<std::uint64_t>(i),
                          .shift = static_cast<std::size_t>(i % 3 == 0),
                          .math = i % 4 == 2 ? MathMode::tf32 : MathMode::standard};  // integers are exact in any
    ASSERT_EQ(test::difference(run(*g, given, setting), test::by_definition(*g, given.first, given.second)), "")
        << to_text(problem) << (setting.hardware.hopper ? " hopper" : "") << " shift " << setting.shift;
    ++compared;
  }
  EXPECT_GT(compared, count / 2);
}

// One problem for every kernel of a convolution that the random ones may leave out.
TEST(CudaKernels, are_all_used_and_right) {
  std::set<Kernel> used;
  test::Random random(72);
  for (const char* dtype : {"f64", "f32", "i32", "bf16", "f16"})
    for (const char* direction : {"forward", "input_grad", "filter_grad"})
      for (const char* channels : {"c9k4", "c4k9", "c16k16", "c32k32", "c48k48", "c64k128", "c128k64", "c32k64",
                                   "c64k32", "c32k128", "c128k32", "c64k64"})
        for (bool hopper : {false, true})
          for (std::size_t shift : {0u, 1u}) {
            const std::string text(channels), c = text.substr(0, text.find('k')), k = text.substr(text.find('k'));
            for (const char* image : {"h4w5_", "h7w8_"}) {  // the second for 16-bit patches with a halo
              if (image[1] == '7' && (!hopper || shift > 0 || std::string(dtype).find("f16") == std::string::npos))
                continue;
              const std::string problem = "n1" + c + image + k + "r2s3_same_" + dtype + "_" + direction;
              const Result<Geometry> g = validate(parse_problem(problem).value());
              if (!g.ok()) continue;  // int32, where TensorFlow takes none
              const test::Operands given = test::random_operands(random, *g);
              const Tensor got = run(*g, given, {.hardware = {.hopper = hopper}, .shift = shift, .used = &used});
              ASSERT_EQ(test::difference(got, test::by_definition(*g, given.first, given.second)), "") << problem;
            }
          }
  for (const char* dtype : {"bf16", "f16"})  // tiles in registers: 3 to 5 of a tap or of two
    for (const char* channels :
         {"n1c64h7w8_k64r2s4", "n1c64h7w8_k32r2s4", "n1c64h7w8_k64r3s3", "n1c64h7w8_k32r3s3", "n1c32h7w8_k64r4s5",
          "n1c32h7w8_k32r4s5", "n1c32d3h7w8_k64t3r3s3", "n1c32d3h7w8_k32t3r3s3"}) {
      const std::string problem = std::string(channels) + "_same_" + dtype + "_filter_grad";
      const Geometry g = validate(parse_problem(problem).value()).value();
      const test::Operands given = test::random_operands(random, g);
      ASSERT_EQ(test::difference(run(g, given, {.used = &used}), test::by_definition(g, given.first, given.second)), "")
          << problem;
    }
  for (const char* dtype : {"f64", "f32", "i32", "bf16", "f16"})
    for (const char* direction : {"forward", "input_grad", "filter_grad"})
      for (const char* layout : {"chlast", "chfirst"}) {
        const std::string problem =
            std::string("n2c6h7w5_k12r3s3_st2x1_g3_same_") + layout + "_" + dtype + "_" + direction;
        const Result<Geometry> g = validate(parse_problem(problem).value());
        if (!g.ok()) continue;
        const test::Operands given = test::random_operands(random, *g);
        const Tensor got = run(*g, given, {.used = &used});
        ASSERT_EQ(test::difference(got, test::by_definition(*g, given.first, given.second)), "") << problem;
        for (std::size_t shift : {0u, 1u}) {
          const std::string one = std::string("n2c8h9w6_k8r3s3_g8_same_") + layout + "_" + dtype + "_" + direction;
          const Geometry each = validate(parse_problem(one).value()).value();
          const test::Operands these = test::random_operands(random, each);
          ASSERT_EQ(test::difference(run(each, these, {.shift = shift, .used = &used}),
                                     test::by_definition(each, these.first, these.second)),
                    "")
              << one;
        }
      }
  for (std::size_t i = 0; i < all_kernels().size(); ++i) {
    const bool needed =
        all_kernels()[i].tile.rows > 0 || all_kernels()[i].group == "direct" || all_kernels()[i].group == "strips";
    EXPECT_TRUE(!needed || used.contains(static_cast<Kernel>(i))) << all_kernels()[i].name << " was not used";
  }
}

// Layers of at most 64 channels of 16 bits, large enough for patches with a halo.
ConvProblem halo_problem(test::Random& random) {
  ConvProblem p;
  p.rank = static_cast<int>(random.between(2, 3));
  p.direction = random.one_of({Direction::forward, Direction::input_grad, Direction::filter_grad});
  p.dtype = random.one_of({DType::bf16, DType::f16});
  p.layout = random.one_of({Layout::channels_last, Layout::channels_first});
  const std::int64_t groups = random.between(1, 4) / 4 + 1;
  p.filter_c = groups == 1 ? random.between(9, 80) : 32 * random.between(1, 2);
  p.c_in = p.filter_c * groups;
  p.c_out = groups * (groups == 1 ? random.between(9, 80) : 32 * random.between(1, 2));
  p.n = random.between(1, 3);
  p.padding = random.one_of({PaddingKind::same, PaddingKind::valid});
  for (std::size_t i = 0; i < 3; ++i) {
    p.filter[i] = random.between(i == 0 ? 1 : 2, 3);
    p.stride[i] = p.direction == Direction::input_grad && random.between(0, 3) == 0 ? 2 : 1;
    p.dilation[i] = random.between(1, 5) / 5 + 1;
    p.in[i] = i == 0 ? random.between(1, 4) : random.between(6, 17);
  }
  return p;
}

TEST(CudaKernels, take_patches_with_their_halo) {
  test::Random random(76);
  int halos = 0, filters = 0, infinite = 0;
  for (int i = 0; i < 200; ++i) {
    const ConvProblem problem = halo_problem(random);
    const Result<Geometry> g = validate(problem);
    if (!g.ok()) continue;
    const Program program = program_for(*g, {});
    if (!program.boxes || info(*program.boxes).name.find("_halo_") == std::string_view::npos) continue;
    ++(g->direction == Direction::filter_grad ? filters : halos);
    const Setting setting{.seed = static_cast<std::uint64_t>(i)};
    const test::Operands whole = test::random_operands(random, *g);
    ASSERT_EQ(test::difference(run(*g, whole, setting), test::by_definition(*g, whole.first, whole.second)), "")
        << to_text(problem);
    // The plain kernels, which tensors at odd addresses get, have the same bits, infinities included.
    test::Operands given = test::real_operands(random, *g);
    test::set(given.second, random.between(0, given.second.size() - 1), std::numeric_limits<double>::infinity());
    const Tensor got = run(*g, given, setting), plain = run(*g, given, {.shift = 1});
    ASSERT_EQ(test::difference(got, plain), "") << to_text(problem);
    for (std::int64_t at = 0; at < got.size(); ++at) infinite += !std::isfinite(got.at(at));
  }
  EXPECT_GT(halos, 15);
  EXPECT_GT(filters, 5);
  EXPECT_GT(infinite, 500);
}

// A slice of more than 2048 pixels, which takes more images than a test has otherwise.
TEST(CudaKernels, add_the_blocks_of_a_halo_in_shared_memory) {
  const Geometry g = validate(parse_problem("n1c32h56w48_k32r3s3_same_bf16_filter_grad").value()).value();
  Program program = program_for(g, {});
  ASSERT_EQ(info(*program.boxes).name, "filter_grad_bf16_half_halo_384x32");
  ASSERT_GT(program.slices, 1);
  program.blocks /= static_cast<unsigned>(program.slices);
  program.slices = 1;
  program.conv.slice = 0;
  program.conv.steps = static_cast<int>(program.conv.patches.count);
  program.conv.stages = 2;
  program.conv.tile_at = 100 << 10;  // behind the stages
  ASSERT_GT(program.conv.steps, 32);
  test::Random random(77);
  const test::Operands given = test::random_operands(random, g);
  Tensor result = Tensor::zeros(g.dtype, result_shape(g)).value();
  const Shifted first(given.first, 0), second(given.second, 0);
  EXPECT_EQ(run_launches(program.launches({first.data(), second.data(), result.data(), nullptr}), 1), "");
  EXPECT_EQ(test::difference(result, test::by_definition(g, given.first, given.second)), "");
}

// Alignment, the order of threads and the size of shared memory choose loaders and stages, not the order of sums.
TEST(CudaKernels, give_the_same_bits_in_any_setting) {
  test::Random random(73);
  for (int i = 0; i < 90; ++i) {
    const ConvProblem problem = i % 3 == 0   ? wide_problem(random)
                                : i % 3 == 1 ? depthwise_problem(random)
                                             : any_problem(random);
    const Result<Geometry> g = validate(problem);
    if (!g.ok()) continue;
    const test::Operands given = test::real_operands(random, *g);
    for (bool hopper : {false, true}) {
      const Tensor first = run(*g, given, {.hardware = {.hopper = hopper}});
      for (const Setting& other :
           {Setting{.hardware = {.hopper = hopper}, .seed = 99}, Setting{.hardware = {.hopper = hopper}, .shift = 1},
            Setting{.hardware = {.hopper = hopper, .shared_bytes = hopper ? 160u << 10 : 99u << 10}}}) {
        ASSERT_EQ(test::difference(run(*g, given, other), first), "") << to_text(problem);
      }
    }
  }
}

TEST(CudaKernels, stay_within_the_stated_bound) {
  test::Random random(74);
  for (const char* shape :
       {"n4c2h20w20_k3r2s2_same_", "n1c1h96w96_k1r1s1_valid_", "n1c300h3w3_k8r3s3_same_", "n1c64h3w3_k32r3s3_same_",
        "n2c4h70w70_k4r3s3_g4_same_", "n1c2h9w9_k2r7s7_g2_same_chfirst_"})
    for (const char* dtype : {"f16", "bf16", "f32", "f64"})
      for (const char* direction : {"_forward", "_input_grad", "_filter_grad"})
        for (bool hopper : {false, true}) {
          const ConvProblem problem = parse_problem(std::string(shape) + dtype + direction).value();
          const Geometry g = validate(problem).value();
          const test::Operands given = positive_operands(random, g);
          const Tensor got = run(g, given, {.hardware = {.hopper = hopper}});
          EXPECT_LE(test::worst_share(g, given.first, given.second, got), 1.0) << to_text(problem);
        }
}

// Many chunks of a thread in one slice, as only large layers have them.
TEST(CudaKernels, stay_within_the_bound_where_a_thread_of_a_strip_has_many_chunks) {
  test::Random random(76);
  for (const char* layout : {"chlast_", "chfirst_"})
    for (const char* dtype : {"f16", "bf16", "f32", "f64"}) {
      const std::string text = std::string("n1c2h120w96_k2r3s2_g2_same_") + layout + dtype + "_filter_grad";
      const Geometry g = validate(parse_problem(text).value()).value();
      Program program = program_for(g, {});
      ASSERT_GT(program.slices, 1) << text;
      program.strips->slice_strips = program.strips->units;
      program.slices = 1;
      const test::Operands given = positive_operands(random, g);
      EXPECT_LE(test::worst_share(g, given.first, given.second, run(program, given, {})), 1.0) << text;
    }
}

// Layers of f32 whose products the permission changes: rows of 128 bytes and of 64, both layouts, sums in slices.
constexpr const char* kTf32Shapes[] = {"n1c64h5w5_k64r3s3_same_f32", "n1c300h3w3_k40r3s3_same_f32",
                                       "n1c64h3w3_k32r3s3_same_f32", "n1c96h5w5_k40r3s3_st2_same_chfirst_f32",
                                       "n4c16h33w33_k16r1s1_valid_f32"};
constexpr const char* kGemmDirections[] = {"_forward", "_input_grad", "_filter_grad"};

TEST(CudaTf32, stays_within_its_bound_and_is_less_exact_than_standard_math) {
  test::Random random(76);
  for (const char* shape : kTf32Shapes)
    for (const char* direction : kGemmDirections)
      for (const bool one_sign : {false, true}) {
        const Geometry g = validate(parse_problem(std::string(shape) + direction).value()).value();
        test::Operands given = test::real_operands(random, g);
        if (one_sign)
          for (Tensor* tensor : {&given.first, &given.second})
            for (std::int64_t at = 0; at < tensor->size(); ++at) test::set(*tensor, at, std::fabs(tensor->at(at)));
        const auto share = [&](MathMode permitted, MathMode bound) {
          return test::worst_share(g, given.first, given.second, run(g, given, {.math = permitted}), bound);
        };
        EXPECT_LE(share(MathMode::tf32, MathMode::tf32), 1.0) << shape << direction;
        if (one_sign) continue;  // the errors of sums, which are the same, outweigh those of products
        EXPECT_GT(share(MathMode::tf32, MathMode::standard), 5 * share(MathMode::standard, MathMode::standard))
            << shape << direction;
      }
}

// Planes of 1 and 2^-8 - 2^-16, and nearly 2^-17 lost: each product leaves out 2^-16 and loses 2 * 2^-17, all of one
// sign.
TEST(CudaTf32, comes_near_its_bound_and_f32_in_three_planes_does_not) {
  const Geometry g = validate(parse_problem("n1c64h4w4_k64r1s1_valid_f32_forward").value()).value();
  test::Random random(77);
  test::Operands given = test::real_operands(random, g);
  for (Tensor* tensor : {&given.first, &given.second})
    for (std::int64_t at = 0; at < tensor->size(); ++at)
      test::set(*tensor, at, 1 + 0x1p-8 - 0x1p-16 + 0x1p-17 - 0x1p-23);
  const Tensor fast = run(g, given, {.math = MathMode::tf32}), exact = run(g, given, {});
  const double share = test::worst_share(g, given.first, given.second, fast, MathMode::tf32);
  EXPECT_GT(share, 0.9);
  EXPECT_LE(share, 1.0);
  EXPECT_GT(test::worst_share(g, given.first, given.second, fast), 50);
  EXPECT_LE(test::worst_share(g, given.first, given.second, exact), 1.0);
}

TEST(CudaTf32, changes_nothing_but_f32_in_planes) {
  test::Random random(78);
  for (const char* text : {"n2c64h8w8_k64r3s3_same_bf16_forward", "n2c64h8w8_k64r3s3_same_f16_filter_grad",
                           "n2c32h8w8_k32r3s3_same_f64_input_grad", "n2c8h8w8_k64r1s1_same_f32_forward",
                           "n2c64h8w8_k64r3s3_g64_same_f32_filter_grad", "n2c64h8w8_k64r3s3_same_i32_forward",
                           "n2c9h5w6_k9r1s1_valid_f32_bias_grad"}) {
    const Geometry g = validate(parse_problem(text).value()).value();
    EXPECT_EQ(program_for(g, {}, MathMode::tf32).math(), MathMode::standard) << text;
    const test::Operands given =
        g.dtype == DType::i32 ? test::random_operands(random, g) : test::real_operands(random, g);
    EXPECT_EQ(test::difference(run(g, given, {.math = MathMode::tf32}), run(g, given, {})), "") << text;
  }
  const Geometry planes = validate(parse_problem("n2c64h8w8_k64r3s3_same_f32_forward").value()).value();
  const Hardware older{.hopper = false};
  EXPECT_EQ(program_for(planes, {}, MathMode::tf32).math(), MathMode::tf32);
  EXPECT_EQ(program_for(planes, older, MathMode::tf32).math(), MathMode::standard);
  const test::Operands given = test::real_operands(random, planes);
  EXPECT_EQ(test::difference(run(planes, given, {.hardware = older, .math = MathMode::tf32}),
                             run(planes, given, {.hardware = older})),
            "");
}

TEST(CudaTf32, gives_the_same_bits_in_any_setting) {
  test::Random random(79);
  for (const char* shape : kTf32Shapes)
    for (const char* direction : kGemmDirections) {
      const Geometry g = validate(parse_problem(std::string(shape) + direction).value()).value();
      const test::Operands given = test::real_operands(random, g);
      const Tensor first = run(g, given, {.math = MathMode::tf32});
      for (const Setting& other : {Setting{.seed = 99, .math = MathMode::tf32},
                                   {.shift = 1, .math = MathMode::tf32},
                                   {.hardware = {.shared_bytes = 160u << 10}, .math = MathMode::tf32}})
        ASSERT_EQ(test::difference(run(g, given, other), first), "") << shape << direction;
    }
}

// The largest f32, whose first plane is cut off; infinities and NaN beside padding.
TEST(CudaTf32, takes_large_numbers_and_infinities_as_standard_math_does) {
  test::Random random(80);
  int infinite = 0;
  const double large = std::numeric_limits<float>::max(), infinity = std::numeric_limits<double>::infinity();
  for (const char* shape : kTf32Shapes)
    for (const char* direction : kGemmDirections)
      for (const double odd : {large, -large, infinity, -infinity, std::numeric_limits<double>::quiet_NaN()}) {
        const Geometry g = validate(parse_problem(std::string(shape) + direction).value()).value();
        test::Operands given = test::real_operands(random, g);
        test::set(given.first, random.between(0, given.first.size() - 1), odd);
        const Tensor wanted = compute(problem_of(g), given.first, given.second, {.engine = "reference"}).value();
        const Tensor got = run(g, given, {.math = MathMode::tf32});
        for (std::int64_t at = 0; at < got.size(); ++at) {
          const double a = got.at(at), b = wanted.at(at);
          if (std::isfinite(b)) {
            ASSERT_TRUE(std::isfinite(a)) << shape << direction << " element " << at;
          } else {
            ASSERT_TRUE(std::isnan(b) ? std::isnan(a) : a == b) << shape << direction << " element " << at;
          }
          infinite += !std::isfinite(b);
        }
        if (std::isfinite(odd)) {
          EXPECT_LE(test::worst_share(g, given.first, given.second, got, MathMode::tf32), 1.0) << shape << direction;
        }
      }
  EXPECT_GT(infinite, 100);
}

// 2^127 + 2^127 - 2^127: the first two are too much for a sum of f32.
TEST(CudaTf32, sums_that_overflow_on_their_way_end_right) {
  const Geometry g = validate(parse_problem("n1c64h4w4_k64r1s1_valid_f32_forward").value()).value();
  const std::vector<Operand> wanted = operands(g);
  test::Operands given{Tensor::zeros(g.dtype, wanted[0].shape).value(),
                       Tensor::zeros(g.dtype, wanted[1].shape).value()};
  for (std::int64_t at = 0; at < given.first.size(); ++at)
    test::set(given.first, at, at % 64 < 2 ? 0x1p127 : at % 64 == 2 ? -0x1p127 : 0);
  for (std::int64_t at = 0; at < given.second.size(); ++at) test::set(given.second, at, 1);
  const Tensor got = run(g, given, {.math = MathMode::tf32});
  for (std::int64_t at = 0; at < got.size(); ++at) ASSERT_EQ(got.at(at), 0x1p127) << at;
}

// 0 * infinity is not 0: what falls on padding is no term, whatever stands on the other side.
TEST(CudaKernels, multiply_no_padding) {
  test::Random random(75);
  int infinite = 0;
  for (int i = 0; i < 400; ++i) {
    const ConvProblem problem = i % 8 == 0   ? wide_problem(random)
                                : i % 2 == 0 ? depthwise_problem(random)
                                             : any_problem(random);
    const Result<Geometry> g = validate(problem);
    if (!g.ok() || g->dtype == DType::i32 || g->direction == Direction::bias_grad) continue;
    test::Operands given = test::random_operands(random, *g);
    put_infinities(random, given);
    const Tensor got = run(*g, given,
                           {.hardware = {.hopper = i % 2 == 0},
                            .seed = static_cast<std::uint64_t>(i),
                            .math = i % 8 == 0 ? MathMode::tf32 : MathMode::standard});
    ASSERT_EQ(unlike_reference(*g, given, got), "") << to_text(problem);
    infinite += not_finite(got);
  }
  EXPECT_GT(infinite, 100);
}

}  // namespace
}  // namespace convgrad::cuda

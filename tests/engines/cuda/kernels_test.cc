// Every kernel of the CUDA engine, run on the host machine, against the definition.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "engines/cuda/program.h"
#include "support/accuracy.h"
#include "support/cuda_machine/launches.h"
#include "support/problems.h"

namespace convgrad::cuda {
namespace {

// A copy of a tensor's bytes that starts `shift` elements off a 64-byte boundary.
class Shifted {
 public:
  Shifted(const Tensor& tensor, std::size_t shift) : bytes_(static_cast<std::size_t>(tensor.bytes()) + 128) {
    const auto start = reinterpret_cast<std::uintptr_t>(bytes_.data());
    data_ = bytes_.data() + (64 - start % 64) % 64 + shift * size_of(tensor.dtype());
    if (tensor.bytes() > 0) std::memcpy(data_, tensor.data(), static_cast<std::size_t>(tensor.bytes()));
  }
  const void* data() const { return data_; }

 private:
  std::vector<std::byte> bytes_;
  std::byte* data_;
};

struct Setting {
  Hardware hardware = {};
  std::uint64_t seed = 1;  // of the order in which threads run
  std::size_t shift = 0;   // of the operands, in elements
  std::set<Kernel>* used = nullptr;
};

// The result, poisoned before; complaints of the machine are failures.
Tensor run(const Program& program, const test::Operands& given, const Setting& setting) {
  const Geometry& g = program.geometry;
  Tensor result = Tensor::zeros(g.dtype, result_shape(g)).value();
  if (result.bytes() > 0) std::memset(result.data(), 0xff, static_cast<std::size_t>(result.bytes()));
  std::vector<double> workspace(static_cast<std::size_t>(program.workspace_bytes) / 8 + 1,
                                std::numeric_limits<double>::quiet_NaN());
  const Shifted first(given.first, setting.shift), second(given.second, setting.shift);
  const std::vector<Launch> launches = program.launches({first.data(), second.data(), result.data(), workspace.data()});
  if (setting.used != nullptr)
    for (const Launch& launch : launches) setting.used->insert(launch.kernel);
  EXPECT_EQ(run_launches(launches, setting.seed), "") << to_text(problem_of(g));
  return result;
}
Tensor run(const Geometry& g, const test::Operands& given, const Setting& setting) {
  return run(program_for(g, setting.hardware), given, setting);
}

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
                          .shift = static_cast<std::size_t>(i % 3 == 0)};
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
            const std::string problem = "n1" + c + "h4w5_" + k + "r2s2_same_" + dtype + "_" + direction;
            const Result<Geometry> g = validate(parse_problem(problem).value());
            if (!g.ok()) continue;  // int32, where TensorFlow takes none
            const test::Operands given = test::random_operands(random, *g);
            const Tensor got = run(*g, given, {.hardware = {.hopper = hopper}, .shift = shift, .used = &used});
            ASSERT_EQ(test::difference(got, test::by_definition(*g, given.first, given.second)), "") << problem;
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
    for (Tensor* tensor : {&given.first, &given.second})
      if (tensor->size() > 0)
        test::set(*tensor, random.between(0, tensor->size() - 1),
                  random.one_of({std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}));
    const Tensor wanted = compute(problem_of(*g), given.first, given.second, {.engine = "reference"}).value();
    const Tensor got = run(*g, given, {.hardware = {.hopper = i % 2 == 0}, .seed = static_cast<std::uint64_t>(i)});
    for (std::int64_t at = 0; at < got.size(); ++at) {
      const double a = got.at(at), b = wanted.at(at);
      ASSERT_TRUE(std::isnan(a) ? std::isnan(b) : a == b)
          << to_text(problem) << " element " << at << ": " << a << ", " << b;
      infinite += !std::isfinite(b);
    }
  }
  EXPECT_GT(infinite, 100);
}

}  // namespace
}  // namespace convgrad::cuda

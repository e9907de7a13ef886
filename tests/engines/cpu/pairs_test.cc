// Whole gradients multiplied in pairs of bf16, by every row of pairs.inc that this CPU can run: the model of the
// tiles everywhere, the CPU's own instructions where it has them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/buffer.h"
#include "engines/cpu/filter_pairs.h"
#include "engines/cpu/gather.h"
#include "engines/cpu/isa.h"
#include "geometry/shapes.h"
#include "support/accuracy.h"
#include "support/guarded_memory.h"
#include "support/problems.h"

namespace convgrad::cpu {
namespace {

// A gain that no filling with zeros uses up: every problem with channels enough goes by pairs.
PairKernels willing(PairKernels pairs) {
  pairs.gain = 1000;
  return pairs;
}

struct Memory {
  const void* first;
  const void* second;
  void* result;
};

void run_pairs(const Geometry& g, const PairKernels& pairs, const Memory& memory, int threads) {
  const Policy policy{.threads = threads};
  const Kernels& kernels = runnable_kernels().front();
  EngineArgs args{memory.first, memory.second, memory.result, nullptr};
  const auto workspace = [](std::int64_t bytes) { return aligned_buffer(static_cast<std::size_t>(bytes)); };
  if (g.direction == Direction::filter_grad) {
    const std::optional<FilterPairsProgram> program = filter_pairs_program(g, policy, pairs);
    ASSERT_TRUE(program.has_value());
    const auto bench = workspace(workspace_bytes(*program, g.dtype));
    args.workspace = bench.get();
    ASSERT_TRUE(run_filter_pairs(*program, kernels, g, args, policy).ok());
  } else {
    const GatherProgram program = gather_program(g, kernels, policy, &pairs);
    ASSERT_EQ(program.form, GatherForm::pairs);
    const auto bench = workspace(workspace_bytes(program, g.dtype));
    args.workspace = bench.get();
    ASSERT_TRUE(run_gather(program, kernels, g, args, policy).ok());
  }
}

Tensor computed(const Geometry& g, const test::Operands& given, const PairKernels& pairs, int threads = 1) {
  Tensor result = Tensor::zeros(g.dtype, result_shape(g)).value();
  run_pairs(g, pairs, {given.first.data(), given.second.data(), result.mutable_view().data}, threads);
  return result;
}

bool is_taken_in_patches(const Geometry& g) {
  const PairKernels pairs = willing(runnable_pairs().back());
  return gather_program(g, runnable_kernels().front(), {}, &pairs).patches;
}

// Problems that pairs take: 16 channels or more a group, ragged ones too, or few that are summed; every stride,
// dilation, padding and layout; images smaller than the filter reaches.
ConvProblem random_layer(test::Random& r, double most_terms) {
  const bool few = r.between(0, 2) == 0;
  while (true) {
    ConvProblem p;
    p.rank = static_cast<int>(r.between(1, 3));
    p.direction = r.one_of({Direction::forward, Direction::input_grad, Direction::filter_grad});
    p.dtype = DType::bf16;
    p.layout = r.one_of({Layout::channels_last, Layout::channels_first});
    p.n = r.between(1, 3);
    const std::int64_t groups = r.one_of({1, 1, 2, 3});
    p.filter_c = r.one_of({16, 17, 24, 32, 33, 40, 64});
    p.c_in = groups * p.filter_c;
    p.c_out = groups * r.one_of({16, 19, 31, 32, 36, 64});
    p.padding = r.one_of({PaddingKind::same, PaddingKind::valid, PaddingKind::explicit_pairs});
    for (std::size_t i = 0; i < 3; ++i) {
      p.in[i] = r.between(1, p.rank == 3 ? 5 : p.rank == 2 ? 9 : 40);
      p.filter[i] = r.between(1, p.rank == 3 ? 3 : 4);
      p.stride[i] = r.one_of({1, 1, 2, 3, 5});
      p.dilation[i] = r.one_of({1, 1, 2, 3});
      p.pads[i] = {r.between(0, 4), r.between(0, 7)};
    }
    if (few) {
      p.direction = r.one_of({Direction::forward, Direction::input_grad});
      std::int64_t& summed = p.direction == Direction::forward ? p.c_in : p.c_out;
      p.c_in = r.one_of({16, 19, 32, 36});
      p.c_out = r.one_of({16, 19, 32, 36});
      summed = r.one_of({1, 2, 3, 5, 8, 13, 16});
      p.filter_c = p.c_in;
    }
    const Result<Geometry> g = validate(p);
    if (!g.ok() || !has_terms(*g) || nominal_flops(*g) / 2 > most_terms) continue;
    if (!few || is_taken_in_patches(*g)) return p;
  }
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kRounds = 60;
constexpr int kThreadCounts[] = {3};
#else
constexpr int kRounds = 400;
constexpr int kThreadCounts[] = {2, 3, 7};
#endif

// Integers: sums are exact, so any difference is a wrong index.
TEST(Pairs, are_right_on_random_layers) {
  for (const PairKernels& row : runnable_pairs()) {
    const PairKernels pairs = willing(row);
    test::Random random(75);
    for (int round = 0; round < kRounds; ++round) {
      const ConvProblem problem = random_layer(random, 1e6);
      const Geometry g = validate(problem).value();
      const test::Operands given = test::random_operands(random, g);
      ASSERT_EQ(test::difference(computed(g, given, pairs), test::by_definition(g, given.first, given.second)), "")
          << pairs.isa << " " << to_text(problem);
    }
  }
}

TEST(Pairs, stay_within_the_stated_bound) {
  for (const PairKernels& row : runnable_pairs()) {
    const PairKernels pairs = willing(row);
    test::Random random(76);
    for (int round = 0; round < kRounds / 10; ++round) {
      const ConvProblem problem = random_layer(random, 5e5);
      const Geometry g = validate(problem).value();
      const test::Operands given = test::real_operands(random, g);
      EXPECT_LE(test::worst_share(g, given.first, given.second, computed(g, given, pairs)), 1.0)
          << pairs.isa << " " << to_text(problem);
    }
  }
}

// Several blocks of terms, regions, parts and blocks of the filter; regions alike, regions that read nothing; the last
// in several slices.
std::vector<std::string> large_layers() {
  std::vector<std::string> all;
  for (const char* shape : {"n4c16h14w14_k40r3s3_same_", "n1c217h5w5_k16r3s3_same_", "n1c256h5w5_k16r3s3_same_",
                            "n3c20h20w33_k24r3s3_st2_same_", "n2c32h9w9_k64r3s3_di2_same_g2_"}) {
    for (const char* layout : {"bf16_", "chfirst_bf16_"}) {
      for (const char* direction : {"forward", "input_grad", "filter_grad"})
        all.push_back(std::string(shape) + layout + direction);
    }
  }
  for (const char* layout : {"bf16_", "chfirst_bf16_"}) {
    for (const char* shape :
         {"n2c3h40w40_k16r7s7_st2_same_", "n1c16d4h6w6_k16t5r5s5_same_", "n1c1h30w90_k20r5s20_valid_"})
      all.push_back(std::string(shape) + layout + "forward");
    all.push_back(std::string("n2c16h40w33_k16r3s3_same_") + layout + "input_grad");
  }
  all.push_back("n1c160h5w5_k192r3s3_same_bf16_filter_grad");
  all.push_back("n1c16h70w56_k16r3s3_same_bf16_filter_grad");
  all.push_back("n1c16w2200_k16s3_pad3000.3000_chfirst_bf16_filter_grad");
  all.push_back("n1c40h80w80_k64r1s1_valid_bf16_filter_grad");
  return all;
}

TEST(Pairs, of_large_layers_are_right_for_any_number_of_threads) {
  for (const PairKernels& row : runnable_pairs()) {
    const PairKernels pairs = willing(row);
    test::Random random(77);
    for (const std::string& text : large_layers()) {
      const Geometry g = validate(parse_problem(text).value()).value();
      const test::Operands given = test::real_operands(random, g);
      const Tensor alone = computed(g, given, pairs);
      EXPECT_LE(test::worst_share(g, given.first, given.second, alone), 1.0) << pairs.isa << " " << text;
      for (int threads : kThreadCounts)
        EXPECT_EQ(test::difference(computed(g, given, pairs, threads), alone), "") << pairs.isa << " " << text;
    }
  }
}

// 0 finite, 1 nan, 2 +inf, 3 -inf
int kind(double value) { return std::isnan(value) ? 1 : !std::isinf(value) ? 0 : value > 0 ? 2 : 3; }

TEST(Pairs, put_infinities_and_nans_where_the_definition_does) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const PairKernels& row : runnable_pairs()) {
    const PairKernels pairs = willing(row);
    test::Random random(78);
    for (int round = 0; round < kRounds / 4; ++round) {
      const ConvProblem problem = random_layer(random, 3e5);
      const Geometry g = validate(problem).value();
      test::Operands given = test::random_operands(random, g);
      for (Tensor* tensor : {&given.first, &given.second}) {
        for (int i = 0; i < 2; ++i)
          test::set(*tensor, random.between(0, tensor->size() - 1), random.one_of({kInf, -kInf, std::nan(""), 0.0}));
      }
      const Tensor got = computed(g, given, pairs), wanted = test::by_definition(g, given.first, given.second);
      for (std::int64_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(kind(got.at(i)), kind(wanted.at(i))) << pairs.isa << " " << to_text(problem) << " element " << i;
        if (kind(wanted.at(i)) == 0) {
          ASSERT_EQ(got.at(i), wanted.at(i)) << pairs.isa << " " << to_text(problem);
        }
      }
    }
  }
}

// One denormal, times 2^100: the filter gradient, which looks at what it copies, keeps it.
TEST(Pairs, of_the_filter_gradient_keep_denormals) {
  const Geometry g = validate(parse_problem("n1c16h4w4_k16r1s1_valid_bf16_filter_grad").value()).value();
  Tensor x = Tensor::zeros(DType::bf16, in_shape(g)).value(), dy = Tensor::zeros(DType::bf16, out_shape(g)).value();
  test::set(x, 0, 0x1p-130);
  test::set(dy, 0, 0x1p100);
  for (const PairKernels& row : runnable_pairs())
    EXPECT_EQ(computed(g, {x, dy}, willing(row)).at(0), 0x1p-30) << row.isa;
}

TEST(Pairs, touch_nothing_outside_the_tensors) {
  using test::GuardedMemory;
  for (const PairKernels& row : runnable_pairs()) {
    const PairKernels pairs = willing(row);
    test::Random random(79);
    for (int round = 0; round < kRounds / 4; ++round) {
      const ConvProblem problem = random_layer(random, 1e5);
      const Geometry g = validate(problem).value();
      const test::Operands given = test::random_operands(random, g);
      const Tensor wanted = test::by_definition(g, given.first, given.second);
      const auto against = round % 2 == 0 ? GuardedMemory::Against::end : GuardedMemory::Against::begin;
      const test::GuardedCall call(given, wanted, against);
      run_pairs(g, pairs, {call.first.data(), call.second.data(), call.result.data()}, 1);
      ASSERT_TRUE(call.gave(wanted)) << pairs.isa << " " << to_text(problem);
    }
  }
}

TEST(Pairs, are_for_dense_bf16_with_channels_enough) {
  const Kernels& kernels = runnable_kernels().front();
  const PairKernels& model = runnable_pairs().back();
  const auto taken = [&](const char* text) {
    const Geometry g = validate(parse_problem(text).value()).value();
    return g.direction == Direction::filter_grad ? filter_pairs_program(g, {}, model).has_value()
                                                 : gather_program(g, kernels, {}, &model).form == GatherForm::pairs;
  };
  for (const char* direction : {"forward", "input_grad", "filter_grad"}) {
    const auto text = [direction](const char* shape) { return std::string(shape) + direction; };
    EXPECT_TRUE(taken(text("n2c64h14w14_k64r3s3_same_bf16_").c_str())) << direction;
    EXPECT_TRUE(taken(text("n2c32h14w14_k32r3s3_same_g2_chfirst_bf16_").c_str())) << direction;
    EXPECT_FALSE(taken(text("n2c64h14w14_k64r3s3_same_f32_").c_str())) << direction;
    EXPECT_FALSE(taken(text("n2c64h14w14_k64r3s3_same_g64_bf16_").c_str())) << direction;
    EXPECT_FALSE(taken(text("n2c64h14w14_k8r3s3_same_bf16_").c_str()) && direction != std::string("input_grad"));
    EXPECT_FALSE(taken(text("n2c8h14w14_k64r3s3_same_bf16_").c_str()) && direction != std::string("forward"));
  }
  EXPECT_TRUE(taken("n2c8h14w14_k64r3s3_same_bf16_forward"));
  EXPECT_TRUE(taken("n2c64h14w14_k8r3s3_same_bf16_input_grad"));
  EXPECT_FALSE(taken("n2c64h14w14_k8r3s3_st2_same_bf16_input_grad"));
  EXPECT_FALSE(taken("n2c2h14w14_k64r3s3_di2_same_bf16_forward"));
  EXPECT_FALSE(taken("n1c16w200000_k16s2_di100000_valid_bf16_filter_grad"));
}

}  // namespace
}  // namespace convgrad::cpu

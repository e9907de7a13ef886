// Every instruction set computes every problem; those that fuse multiply-adds give the same bits, and
// the bits of tests/data/golden_bits.txt, on any CPU and for any number of threads.
#include "engines/cpu/isa.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/buffer.h"
#include "engines/cpu/filter_grad.h"
#include "engines/cpu/gather.h"
#include "geometry/shapes.h"
#include "support/problems.h"

namespace convgrad::cpu {
namespace {

// The engine's work with the kernels of one instruction set.
Tensor computed(const Geometry& g, const test::Operands& given, const Kernels& kernels, int threads) {
  const Policy policy{.threads = threads};
  Tensor result = Tensor::zeros(g.dtype, result_shape(g)).value();
  EngineArgs args{given.first.data(), given.second.data(), result.mutable_view().data, nullptr};
  if (g.direction == Direction::filter_grad || g.direction == Direction::bias_grad) {
    const FilterProgram program = filter_program(g, policy);
    const auto memory = aligned_buffer(static_cast<std::size_t>(workspace_bytes(program, g.dtype)));
    args.workspace = memory.get();
    EXPECT_TRUE(run_filter(program, kernels, g, args, policy).ok());
  } else {
    const GatherProgram program = gather_program(g, kernels, policy);
    const auto memory = aligned_buffer(static_cast<std::size_t>(workspace_bytes(program, g.dtype)));
    args.workspace = memory.get();
    EXPECT_TRUE(run_gather(program, kernels, g, args, policy).ok());
  }
  return result;
}

TEST(Isas, are_all_right_on_random_problems) {
  test::Random random(61);
  for (int round = 0; round < 2000; ++round) {
    const ConvProblem problem = test::random_problem(random, 4000);
    const Geometry g = validate(problem).value();
    if (!has_terms(g)) continue;
    const test::Operands given = test::random_operands(random, g);
    const Tensor wanted = test::by_definition(g, given.first, given.second);
    for (const Kernels& kernels : runnable_kernels()) {
      ASSERT_EQ(test::difference(computed(g, given, kernels, 1), wanted), "") << kernels.isa << " " << to_text(problem);
    }
  }
}

TEST(Isas, with_fused_multiply_adds_give_equal_bits) {
  test::Random random(62);
  for (int round = 0; round < 1500; ++round) {
    const ConvProblem problem = test::random_problem(random, 60000);
    const Geometry g = validate(problem).value();
    if (!has_terms(g)) continue;
    const test::Operands given = test::real_operands(random, g);
    const Tensor best = computed(g, given, runnable_kernels().front(), 1);
    for (const Kernels& kernels : runnable_kernels()) {
      if (!kernels.fuses) continue;
      ASSERT_EQ(test::difference(computed(g, given, kernels, 1), best), "") << kernels.isa << " " << to_text(problem);
    }
  }
}

// One or more of every form, in every dtype; long and short sums, one and several slices, blocks and parts.
std::vector<std::string> golden_problems() {
  std::vector<std::string> all;
  for (const char* shape :
       {"n2c64h14w14_k64r3s3_same_", "n1c3h40w40_k32r7s7_st2_same_", "n2c32h12w12_k32r3s3_same_g32_",
        "n2c32h12w12_k32r3s3_same_g8_", "n4c20h9w9_k6r3s3_di2_same_", "n1c40d6h7w8_k24t3r3s3_pad1.2_",
        "n1c256h9w9_k40r3s3_st2_pad2.1_", "n8c4h64w64_k24r1s1_valid_", "n16c16h24w24_k32r3s3_same_"}) {
    for (const char* layout : {"", "chfirst_"}) {
      for (const char* dtype : {"f32", "f64", "bf16", "f16"}) {
        for (const char* direction : {"_forward", "_input_grad", "_filter_grad", "_bias_grad"})
          all.push_back(std::string(shape) + layout + dtype + direction);
      }
    }
  }
  return all;
}

// FNV-1a over the bytes of a result.
std::uint64_t hash_of(const Tensor& tensor) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto* bytes = static_cast<const unsigned char*>(tensor.data());
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.size()) * size_of(tensor.dtype()); ++i)
    hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return hash;
}

std::string golden_lines(const Kernels& kernels, int threads) {
  std::ostringstream lines;
  test::Random random(63);
  for (const std::string& text : golden_problems()) {
    const Geometry g = validate(parse_problem(text).value()).value();
    lines << text << ' ' << std::hex << hash_of(computed(g, test::real_operands(random, g), kernels, threads)) << '\n';
  }
  return lines.str();
}

// Under sanitizers every round takes ten times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kThreadCounts[] = {1, 3};
#else
constexpr int kThreadCounts[] = {1, 2, 3, 7, 16};
#endif

// CONVGRAD_WRITE_GOLDEN=1 writes the file anew, after a change of the order of the sums that is meant.
TEST(Isas, give_the_golden_bits_for_any_number_of_threads) {
  const char* path = CONVGRAD_TEST_DATA "/golden_bits.txt";
  if (std::getenv("CONVGRAD_WRITE_GOLDEN") != nullptr)
    std::ofstream(path) << golden_lines(runnable_kernels().front(), 1);
  std::stringstream golden;
  golden << std::ifstream(path).rdbuf();
  ASSERT_GT(golden.str().size(), 1000u);
  for (const Kernels& kernels : runnable_kernels()) {
    if (!kernels.fuses) continue;
    for (int threads : kThreadCounts) {
      if (threads != 1 && &kernels != &runnable_kernels().front()) continue;
      EXPECT_EQ(golden_lines(kernels, threads), golden.str()) << kernels.isa << ", " << threads << " threads";
    }
  }
}

}  // namespace
}  // namespace convgrad::cpu

// What the CPU engine takes beside operands and result: 16 MB and a packed filter, for up to four threads.
#include <gtest/gtest.h>

#include <algorithm>

#include "convgrad/plan.h"
#include "convgrad/problem.h"

namespace convgrad {
namespace {

constexpr std::int64_t kMemory = std::int64_t{16} << 20;

// The filter with its input or its output channels filled up to a vector, in the type that is summed in.
std::int64_t packed_filter_bytes(const Geometry& g) {
  const auto filled = [](std::int64_t channels) { return (channels + 15) / 16 * 16; };
  const std::int64_t in = g.c_in / g.groups, out = g.c_out / g.groups;
  const std::int64_t taps = g.filter[0] * g.filter[1] * g.filter[2];
  return taps * g.groups * std::max(filled(in) * out, in * filled(out)) * (g.dtype == DType::f64 ? 8 : 4);
}

class Memory : public testing::TestWithParam<const char*> {};

TEST_P(Memory, stays_within_its_bound) {
  for (const char* dtype : {"f32", "f64", "bf16"}) {
    for (const char* layout : {"", "_chfirst"}) {
      for (const char* direction : {"forward", "input_grad", "filter_grad"}) {
        const std::string text = std::string(GetParam()) + layout + "_" + dtype + "_" + direction;
        const Result<ConvProblem> problem = parse_problem(text);
        ASSERT_TRUE(problem.ok()) << problem.status().message();
        for (int threads : {1, 2, 4}) {
          Policy policy;
          policy.engine = "cpu";
          policy.threads = threads;
          const Result<Plan> plan = make_plan(*problem, policy);
          ASSERT_TRUE(plan.ok()) << text << ": " << plan.status().message();
          EXPECT_LE(plan->workspace_bytes, kMemory + packed_filter_bytes(plan->geometry))
              << text << " on " << threads << " threads";
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, Memory,
                         testing::Values("n16c64h56w56_k64r3s3_st1_di1_pad1.1x1.1_g1",   // common
                                         "n1c2048h33w33_k256r3s3_st1_di12_same_g1",      // far taps, many channels
                                         "n1c64h512w512_k64r3s3_st1_di60_same_g1",      // farther taps
                                         "n1c8h600w600_k8r151s151_st1_di1_same_g1",      // a filter like an image
                                         "n1c1024h7w7_k1024r7s7_st1_di1_valid_g1",       // a large filter
                                         "n2c108d8h28w28_k108t3r3s3_st1_di1_same_g108",  // depthwise
                                         "n1c64d40h200w200_k64t5r5s5_st1_di4_same_g16",  // small groups, far taps
                                         "n1c16384h8w8_k4096r1s1_st1_di1_valid_g1",      // very many channels
                                         "n1c3d64h512w512_k16t3r3s3_st2_di1_same_g1"));  // a large volume

}  // namespace
}  // namespace convgrad

// The 3-D filter gradient of tests/data/scenes.json, as C structs that own what they point to.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

#include "convgrad/convgrad_c.h"

namespace convgrad::test {

inline constexpr const char* kSceneProblem = "n2c2d2h2w2_k2t2r2s2_st4x3x2_same_f32_filter_grad";
inline constexpr std::array<float, 32> kSceneResult = {121040, 127840, 130848, 138176, 140656, 148512, 150464, 158848,
                                                       160272, 169184, 170080, 179520, 179888, 189856, 189696, 200192,
                                                       199504, 210528, 209312, 220864, 219120, 231200, 228928, 241536,
                                                       238736, 251872, 248544, 262208, 258352, 272544, 268160, 282880};

struct SceneCall {
  std::array<std::int64_t, 5> twos{2, 2, 2, 2, 2}, out{2, 1, 1, 1, 2}, strides{1, 4, 3, 2, 1};
  convgrad_call call{};

  SceneCall() {
    call.struct_size = sizeof(call);
    call.op = CONVGRAD_OP_conv3d_backprop_filter_v2;
    call.dtype = CONVGRAD_DTYPE_f32;
    call.input = {twos.data(), 5};
    call.out_backprop = {out.data(), 5};
    call.sizes = {twos.data(), 5};
    call.sizes_rank = 1;
    call.strides = {strides.data(), 5};
    call.padding = "SAME";
  }
  SceneCall(const SceneCall&) = delete;
};

struct SceneBuffers {
  alignas(64) std::array<float, 32> x{};
  alignas(64) std::array<float, 4> dy{2856, 2992, 6952, 7344};
  alignas(64) std::array<float, 32> dw{};
  convgrad_buffers buffers{};

  SceneBuffers() {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i + 1);
    buffers.struct_size = sizeof(buffers);
    buffers.first = x.data();
    buffers.first_bytes = sizeof(x);
    buffers.second = dy.data();
    buffers.second_bytes = sizeof(dy);
    buffers.result = dw.data();
    buffers.result_bytes = sizeof(dw);
  }
  SceneBuffers(const SceneBuffers&) = delete;
};

// A plan that destroys itself.
struct PlanHandle {
  convgrad_plan* plan = nullptr;
  PlanHandle() = default;
  explicit PlanHandle(const char* problem, const convgrad_policy* policy = nullptr) {
    EXPECT_EQ(convgrad_plan_create_from_problem(problem, policy, &plan), CONVGRAD_OK) << convgrad_last_message();
  }
  PlanHandle(const PlanHandle&) = delete;
  ~PlanHandle() { convgrad_plan_destroy(plan); }
};

// The status, and what the last failure on this thread was about.
inline void expect_refused(convgrad_status got, const std::string& argument, const std::string& rule,
                           convgrad_status wanted = CONVGRAD_INVALID_ARGUMENT) {
  EXPECT_EQ(got, wanted) << convgrad_last_message();
  EXPECT_EQ(convgrad_last_argument(), argument) << convgrad_last_message();
  EXPECT_EQ(convgrad_last_rule(), rule) << convgrad_last_message();
  EXPECT_NE(std::string(convgrad_last_message()).find(argument), std::string::npos) << convgrad_last_message();
  EXPECT_STRNE(convgrad_last_wanted(), "");
}

}  // namespace convgrad::test

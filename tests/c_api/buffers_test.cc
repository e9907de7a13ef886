// The buffers of convgrad_plan_run: too small, missing, overlapping, misaligned.
#include <cstring>
#include <vector>

#include "c_api/scene.h"

namespace convgrad::test {
namespace {

TEST(CApiBuffers, the_scene_gives_its_32_values) {
  const PlanHandle handle(kSceneProblem);
  SceneBuffers arrays;
  ASSERT_EQ(convgrad_plan_run(handle.plan, &arrays.buffers), CONVGRAD_OK) << convgrad_last_message();
  EXPECT_EQ(arrays.dw, kSceneResult);
}

TEST(CApiBuffers, a_call_and_a_problem_string_give_the_same_bits) {
  PlanHandle handle;
  SceneCall scene;
  ASSERT_EQ(convgrad_plan_create(&scene.call, nullptr, &handle.plan), CONVGRAD_OK) << convgrad_last_message();
  SceneBuffers arrays;
  ASSERT_EQ(convgrad_plan_run(handle.plan, &arrays.buffers), CONVGRAD_OK) << convgrad_last_message();
  EXPECT_EQ(arrays.dw, kSceneResult);
}

TEST(CApiBuffers, one_byte_too_few_is_refused_and_nothing_is_written) {
  const PlanHandle handle(kSceneProblem);
  const std::pair<const char*, std::size_t convgrad_buffers::*> fields[] = {
      {"first", &convgrad_buffers::first_bytes},
      {"second", &convgrad_buffers::second_bytes},
      {"result", &convgrad_buffers::result_bytes}};
  for (const auto& [name, field] : fields) {
    SceneBuffers arrays;
    --(arrays.buffers.*field);
    expect_refused(convgrad_plan_run(handle.plan, &arrays.buffers), name, "operand-data");
    EXPECT_EQ(arrays.dw, (std::array<float, 32>{}));
  }
}

TEST(CApiBuffers, missing_memory_is_refused) {
  const PlanHandle handle(kSceneProblem);
  SceneBuffers no_first, no_second, no_result;
  no_first.buffers.first = nullptr;
  expect_refused(convgrad_plan_run(handle.plan, &no_first.buffers), "input", "operand-data");
  no_second.buffers.second = nullptr;
  expect_refused(convgrad_plan_run(handle.plan, &no_second.buffers), "out_backprop", "operand-data");
  no_result.buffers.result = nullptr;
  expect_refused(convgrad_plan_run(handle.plan, &no_result.buffers), "result", "operand-data");
}

TEST(CApiBuffers, a_result_that_shares_memory_is_refused) {
  const PlanHandle handle(kSceneProblem);
  SceneBuffers same, last_byte;
  same.buffers.result = same.x.data();
  expect_refused(convgrad_plan_run(handle.plan, &same.buffers), "result", "operand-overlap");
  std::vector<float> joined(64);
  std::memcpy(joined.data(), last_byte.x.data(), sizeof(last_byte.x));
  last_byte.buffers.first = joined.data();
  last_byte.buffers.result = reinterpret_cast<char*>(joined.data() + 32) - 1;
  expect_refused(convgrad_plan_run(handle.plan, &last_byte.buffers), "result", "operand-overlap");
  last_byte.buffers.result = joined.data() + 32;
  EXPECT_EQ(convgrad_plan_run(handle.plan, &last_byte.buffers), CONVGRAD_OK) << convgrad_last_message();
}

TEST(CApiBuffers, operands_may_share_memory_with_each_other) {
  const PlanHandle handle("n1c1h2w2_k1r2s2_valid_f32_forward");
  const float x[4] = {1, 2, 3, 4};
  float y = 0;
  const convgrad_buffers buffers = {sizeof(buffers), x, sizeof(x), x, sizeof(x), &y, sizeof(y), nullptr, 0, nullptr};
  ASSERT_EQ(convgrad_plan_run(handle.plan, &buffers), CONVGRAD_OK) << convgrad_last_message();
  EXPECT_EQ(y, 30);
}

TEST(CApiBuffers, misaligned_operands_and_results_compute_right) {
  const PlanHandle handle(kSceneProblem);
  for (const std::size_t shift : {1u, 2u, 3u}) {
    SceneBuffers arrays;
    std::vector<char> x(sizeof(arrays.x) + shift), dy(sizeof(arrays.dy) + shift), dw(sizeof(arrays.dw) + shift + 1, 77);
    std::memcpy(x.data() + shift, arrays.x.data(), sizeof(arrays.x));
    std::memcpy(dy.data() + shift, arrays.dy.data(), sizeof(arrays.dy));
    arrays.buffers.first = x.data() + shift;
    arrays.buffers.second = dy.data() + shift;
    arrays.buffers.result = dw.data() + shift;
    ASSERT_EQ(convgrad_plan_run(handle.plan, &arrays.buffers), CONVGRAD_OK) << convgrad_last_message();
    std::memcpy(arrays.dw.data(), dw.data() + shift, sizeof(arrays.dw));
    EXPECT_EQ(arrays.dw, kSceneResult) << "shift " << shift;
    EXPECT_EQ(dw[shift - 1], 77);
    EXPECT_EQ(dw.back(), 77);
  }
}

TEST(CApiBuffers, a_workspace_may_be_left_out_or_given) {
  const PlanHandle handle(kSceneProblem);
  std::int64_t bytes = -1;
  ASSERT_EQ(convgrad_plan_workspace_bytes(handle.plan, &bytes), CONVGRAD_OK);
  SceneBuffers without, with;
  ASSERT_EQ(convgrad_plan_run(handle.plan, &without.buffers), CONVGRAD_OK) << convgrad_last_message();
  void* memory = std::aligned_alloc(64, static_cast<std::size_t>(bytes / 64 + 1) * 64);
  with.buffers.workspace = memory;
  with.buffers.workspace_bytes = static_cast<std::size_t>(bytes);
  EXPECT_EQ(convgrad_plan_run(handle.plan, &with.buffers), CONVGRAD_OK) << convgrad_last_message();
  EXPECT_EQ(without.dw, kSceneResult);
  EXPECT_EQ(with.dw, kSceneResult);
  std::free(memory);
}

TEST(CApiBuffers, a_bias_gradient_reads_no_second_operand) {
  const PlanHandle handle("n2c1h1w1_k2r1s1_valid_f32_bias_grad");
  const float dy[4] = {1, 2, 3, 4};
  float db[2] = {};
  const convgrad_buffers buffers = {sizeof(buffers), dy, sizeof(dy), nullptr, 0, db, sizeof(db), nullptr, 0, nullptr};
  ASSERT_EQ(convgrad_plan_run(handle.plan, &buffers), CONVGRAD_OK) << convgrad_last_message();
  EXPECT_EQ(db[0], 4);
  EXPECT_EQ(db[1], 6);
}

TEST(CApiBuffers, an_empty_batch_needs_no_operands_and_gives_zeros) {
  const PlanHandle handle("n0c1h2w2_k1r1s1_valid_f32_filter_grad");
  float dw = 5;
  const convgrad_buffers buffers = {sizeof(buffers), nullptr, 0, nullptr, 0, &dw, sizeof(dw), nullptr, 0, nullptr};
  ASSERT_EQ(convgrad_plan_run(handle.plan, &buffers), CONVGRAD_OK) << convgrad_last_message();
  EXPECT_EQ(dw, 0);
}

}  // namespace
}  // namespace convgrad::test

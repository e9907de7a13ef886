// What the C interface says to NULL, to wrong struct sizes, to unknown numbers and to absurd counts.
#include <cstring>
#include <limits>
#include <vector>

#include "c_api/scene.h"

namespace convgrad::test {
namespace {

TEST(CApi, null_is_refused_by_every_function_that_needs_an_address) {
  const PlanHandle handle(kSceneProblem);
  const SceneCall scene;
  const SceneBuffers arrays;
  convgrad_plan* made = nullptr;
  std::int64_t bytes = 0, sizes[5] = {};
  std::int32_t rank = 0;
  expect_refused(convgrad_check(nullptr), "call", "operand-data");
  expect_refused(convgrad_check_problem(nullptr), "problem", "operand-data");
  expect_refused(convgrad_plan_create(nullptr, nullptr, &made), "call", "operand-data");
  expect_refused(convgrad_plan_create(&scene.call, nullptr, nullptr), "plan", "operand-data");
  expect_refused(convgrad_plan_create_from_problem(nullptr, nullptr, &made), "problem", "operand-data");
  expect_refused(convgrad_plan_create_from_problem(kSceneProblem, nullptr, nullptr), "plan", "operand-data");
  expect_refused(convgrad_plan_workspace_bytes(nullptr, &bytes), "plan", "operand-data");
  expect_refused(convgrad_plan_workspace_bytes(handle.plan, nullptr), "bytes", "operand-data");
  expect_refused(convgrad_plan_result_shape(nullptr, sizes, &rank), "plan", "operand-data");
  expect_refused(convgrad_plan_result_shape(handle.plan, nullptr, &rank), "sizes", "operand-data");
  expect_refused(convgrad_plan_result_shape(handle.plan, sizes, nullptr), "rank", "operand-data");
  expect_refused(convgrad_plan_run(nullptr, &arrays.buffers), "plan", "operand-data");
  expect_refused(convgrad_plan_run(handle.plan, nullptr), "buffers", "operand-data");
}

TEST(CApi, null_is_harmless_where_there_is_nothing_to_say) {
  convgrad_plan_destroy(nullptr);
  EXPECT_STREQ(convgrad_plan_describe(nullptr), "");
  EXPECT_EQ(convgrad_op_from_name(nullptr), -1);
  EXPECT_EQ(convgrad_dtype_from_name(nullptr), -1);
}

TEST(CApi, a_failed_create_leaves_null_behind) {
  auto* plan = reinterpret_cast<convgrad_plan*>(std::uintptr_t{64});
  EXPECT_EQ(convgrad_plan_create_from_problem("nonsense", nullptr, &plan), CONVGRAD_INVALID_ARGUMENT);
  EXPECT_EQ(plan, nullptr);
}

TEST(CApi, names_map_to_enum_numbers_and_back) {
  EXPECT_EQ(convgrad_op_from_name("Conv2DBackpropFilter"), CONVGRAD_OP_conv2d_backprop_filter);
  EXPECT_EQ(convgrad_op_from_name("conv2d"), CONVGRAD_OP_conv2d);
  EXPECT_EQ(convgrad_op_from_name("Conv4D"), -1);
  EXPECT_EQ(convgrad_dtype_from_name("bfloat16"), CONVGRAD_DTYPE_bf16);
  EXPECT_EQ(convgrad_dtype_from_name("float8"), -1);
  EXPECT_STREQ(convgrad_status_name(CONVGRAD_OK), "ok");
  EXPECT_STREQ(convgrad_status_name(CONVGRAD_CANCELLED), "cancelled");
  EXPECT_STREQ(convgrad_status_name(77), "unknown");
  EXPECT_STREQ(convgrad_status_name(-1), "unknown");
}

TEST(CApi, wrong_struct_sizes_are_refused) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::numeric_limits<std::size_t>::max()}) {
    SceneCall scene;
    scene.call.struct_size = size;
    expect_refused(convgrad_check(&scene.call), "struct_size", "struct-size");
    convgrad_policy policy{};
    policy.struct_size = size;
    convgrad_plan* plan = nullptr;
    expect_refused(convgrad_plan_create_from_problem(kSceneProblem, &policy, &plan), "struct_size", "struct-size");
    const PlanHandle handle(kSceneProblem);
    SceneBuffers arrays;
    arrays.buffers.struct_size = size;
    expect_refused(convgrad_plan_run(handle.plan, &arrays.buffers), "struct_size", "struct-size");
  }
}

TEST(CApi, a_struct_of_a_later_version_is_refused) {
  struct Later {
    SceneCall scene;
    std::int64_t unknown = 0;
  } later;
  later.scene.call.struct_size = sizeof(convgrad_call) + sizeof(later.unknown);
  expect_refused(convgrad_check(&later.scene.call), "struct_size", "struct-size");
}

// A caller compiled against a struct that ended earlier: the rest counts as zero, whatever lies there.
TEST(CApi, a_struct_of_an_earlier_version_is_read_up_to_its_end) {
  SceneCall scene;
  scene.call.struct_size = offsetof(convgrad_call, data_format);
  scene.call.data_format = "not read";
  EXPECT_EQ(convgrad_check(&scene.call), CONVGRAD_OK) << convgrad_last_message();
  convgrad_policy policy{};
  policy.struct_size = offsetof(convgrad_policy, threads);
  policy.threads = -5;
  const PlanHandle handle(kSceneProblem, &policy);
  EXPECT_NE(handle.plan, nullptr);
}

TEST(CApi, unknown_enum_numbers_are_refused) {
  for (const std::int32_t number : {-1, 1000, std::numeric_limits<std::int32_t>::min()}) {
    SceneCall wrong_op;
    wrong_op.call.op = number;
    EXPECT_EQ(convgrad_check(&wrong_op.call), CONVGRAD_INVALID_ARGUMENT);
    EXPECT_STREQ(convgrad_last_argument(), "op");
    SceneCall wrong_dtype;
    wrong_dtype.call.dtype = number;
    EXPECT_EQ(convgrad_check(&wrong_dtype.call), CONVGRAD_INVALID_ARGUMENT);
    EXPECT_STREQ(convgrad_last_argument(), "dtype");
  }
  SceneCall count_as_dtype, count_as_op;
  count_as_dtype.call.dtype = CONVGRAD_DTYPE_COUNT;
  count_as_op.call.op = CONVGRAD_OP_COUNT;
  EXPECT_EQ(convgrad_check(&count_as_dtype.call), CONVGRAD_INVALID_ARGUMENT);
  EXPECT_EQ(convgrad_check(&count_as_op.call), CONVGRAD_INVALID_ARGUMENT);
}

// Every list of the call, with the name its refusal carries.
struct ListField {
  const char* name;
  convgrad_numbers convgrad_call::* field;
};
const std::vector<ListField> kLists = {{"input", &convgrad_call::input},
                                       {"filter", &convgrad_call::filter},
                                       {"out_backprop", &convgrad_call::out_backprop},
                                       {"sizes", &convgrad_call::sizes},
                                       {"strides", &convgrad_call::strides},
                                       {"dilations", &convgrad_call::dilations},
                                       {"explicit_paddings", &convgrad_call::explicit_paddings}};

TEST(CApi, negative_and_absurd_counts_are_refused_before_anything_is_read) {
  for (const ListField& list : kLists) {
    for (const std::int64_t count : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(), std::int64_t{1} << 21,
                                     std::numeric_limits<std::int64_t>::max()}) {
      SceneCall scene;
      (scene.call.*list.field) = {scene.twos.data(), count};
      expect_refused(convgrad_check(&scene.call), list.name, "operand-data");
    }
  }
}

TEST(CApi, a_count_without_values_is_refused) {
  for (const ListField& list : kLists) {
    SceneCall scene;
    (scene.call.*list.field) = {nullptr, 5};
    expect_refused(convgrad_check(&scene.call), list.name, "operand-data");
  }
}

TEST(CApi, lists_of_a_wrong_length_are_refused_by_their_rules) {
  SceneCall short_strides, short_sizes, short_out, long_input;
  short_strides.call.strides.count = 4;
  expect_refused(convgrad_check(&short_strides.call), "strides", "stride-length");
  short_sizes.call.sizes.count = 4;
  expect_refused(convgrad_check(&short_sizes.call), "filter_sizes", "size-vector-length");
  short_out.call.out_backprop.count = 1;
  expect_refused(convgrad_check(&short_out.call), "out_backprop", "rank");
  const std::vector<std::int64_t> many(1 << 20, 1);
  long_input.call.input = {many.data(), 1 << 20};
  expect_refused(convgrad_check(&long_input.call), "input", "rank");
}

// out_backprop is no argument of the forward ops, but the struct lets a caller fill it in.
TEST(CApi, a_forward_call_with_an_out_backprop_of_wrong_rank_does_not_read_past_it) {
  SceneCall scene;
  const std::vector<std::int64_t> one_entry = {2};  // on the heap, where a sanitizer watches its end
  scene.call.op = CONVGRAD_OP_conv3d;
  scene.call.filter = {scene.twos.data(), 5};
  scene.call.out_backprop = {one_entry.data(), 1};
  expect_refused(convgrad_check(&scene.call), "out_backprop", "rank");
}

TEST(CApi, a_call_without_padding_is_refused) {
  SceneCall scene;
  scene.call.padding = nullptr;
  expect_refused(convgrad_check(&scene.call), "padding", "padding-name");
}

TEST(CApi, strides_and_dilations_that_are_not_given_are_ones) {
  SceneCall scene;
  scene.call.strides = {};
  scene.call.dilations = {};
  scene.call.out_backprop = {scene.twos.data(), 5};
  EXPECT_EQ(convgrad_check(&scene.call), CONVGRAD_OK) << convgrad_last_message();
}

TEST(CApi, a_zeroed_sizes_rank_is_a_vector_and_others_are_refused) {
  SceneCall scene;
  scene.call.sizes_rank = 0;
  EXPECT_EQ(convgrad_check(&scene.call), CONVGRAD_OK) << convgrad_last_message();
  for (const std::int32_t rank : {-1, 2, 1000}) {
    scene.call.sizes_rank = rank;
    expect_refused(convgrad_check(&scene.call), "filter_sizes", "size-vector-rank");
  }
}

TEST(CApi, every_math_mode_is_taken) {
  convgrad_policy policy{};
  policy.struct_size = sizeof(policy);
  for (std::int32_t math = 0; math < CONVGRAD_MATH_COUNT; ++math) {
    policy.math = math;
    convgrad_plan* plan = nullptr;
    EXPECT_EQ(convgrad_plan_create_from_problem(kSceneProblem, &policy, &plan), CONVGRAD_OK) << math;
    convgrad_plan_destroy(plan);
  }
}

TEST(CApi, policies_out_of_range_are_refused) {
  convgrad_plan* plan = nullptr;
  convgrad_policy policy{};
  policy.struct_size = sizeof(policy);
  policy.threads = -1;
  expect_refused(convgrad_plan_create_from_problem(kSceneProblem, &policy, &plan), "threads", "policy");
  policy.threads = 1 << 20;
  expect_refused(convgrad_plan_create_from_problem(kSceneProblem, &policy, &plan), "threads", "policy");
  policy.threads = 0;
  policy.workspace_limit = -1;
  expect_refused(convgrad_plan_create_from_problem(kSceneProblem, &policy, &plan), "workspace_limit", "policy");
  policy.workspace_limit = 0;
  policy.max_bytes = 16;
  EXPECT_EQ(convgrad_plan_create_from_problem(kSceneProblem, &policy, &plan), CONVGRAD_RESOURCE_EXHAUSTED);
  EXPECT_STREQ(convgrad_last_rule(), "resource");
  policy.max_bytes = 0;
  policy.engine = "abacus";
  expect_refused(convgrad_plan_create_from_problem(kSceneProblem, &policy, &plan), "engine", "engine-name",
                 CONVGRAD_UNIMPLEMENTED);
  EXPECT_EQ(plan, nullptr);
  policy.engine = nullptr;
  for (const std::int32_t math : {-1, static_cast<std::int32_t>(CONVGRAD_MATH_COUNT)}) {
    policy.math = math;
    expect_refused(convgrad_plan_create_from_problem(kSceneProblem, &policy, &plan), "math", "policy");
  }
  policy.math = 0;
  policy.memory = 7;
  expect_refused(convgrad_plan_create_from_problem(kSceneProblem, &policy, &plan), "place", "policy");
}

TEST(CApi, a_gpus_memory_is_out_of_reach_for_the_cpu) {
  convgrad_plan* plan = nullptr;
  convgrad_policy policy{};
  policy.struct_size = sizeof(policy);
  policy.engine = "cpu";
  policy.memory = CONVGRAD_MEMORY_CUDA;
  expect_refused(convgrad_plan_create_from_problem(kSceneProblem, &policy, &plan), "engine", "engine-name",
                 CONVGRAD_UNIMPLEMENTED);
  policy.struct_size = offsetof(convgrad_policy, memory);  // as callers know it who were compiled before
  EXPECT_EQ(convgrad_plan_create_from_problem(kSceneProblem, &policy, &plan), CONVGRAD_OK) << convgrad_last_message();
  convgrad_plan_destroy(plan);
}

TEST(CApi, a_plan_describes_itself) {
  const PlanHandle handle(kSceneProblem);
  EXPECT_GT(std::strlen(convgrad_plan_describe(handle.plan)), 20u);
  std::int64_t bytes = -1, sizes[5] = {};
  std::int32_t rank = 0;
  EXPECT_EQ(convgrad_plan_workspace_bytes(handle.plan, &bytes), CONVGRAD_OK);
  EXPECT_GE(bytes, 0);
  EXPECT_EQ(convgrad_plan_result_shape(handle.plan, sizes, &rank), CONVGRAD_OK);
  EXPECT_EQ(std::vector<std::int64_t>(sizes, sizes + rank), std::vector<std::int64_t>(5, 2));
}

}  // namespace
}  // namespace convgrad::test

// Plans as data, the policy's say, and the words of explain.
#include <gtest/gtest.h>

#include "convgrad/plan.h"

namespace convgrad {
namespace {

ConvProblem problem() { return parse_problem("n2c16h9w9_k8r3s3_st2_same_f32_filter_grad").value(); }

TEST(Planner, gives_a_plan_with_a_why) {
  const Plan plan = make_plan(problem()).value();
  EXPECT_EQ(plan.engine, "cpu");
  EXPECT_EQ(plan.kernel.rfind("filter_grad_", 0), 0u) << plan.kernel;
  EXPECT_NE(plan.why, "");
  EXPECT_GT(plan.cost_us, 0);
  EXPECT_GT(plan.workspace_bytes, 0);
  EXPECT_EQ(plan.geometry.out, (Extents{1, 5, 5}));
}

TEST(Planner, how_a_result_is_cut_depends_on_the_problem_alone) {
  const Plan one = make_plan(problem(), {.threads = 1}).value();
  const Plan many = make_plan(problem(), {.threads = 16}).value();
  EXPECT_EQ(one.chunk, many.chunk);
  EXPECT_EQ(one.slices, many.slices);
}

TEST(Planner, takes_an_engine_by_name_and_refuses_an_unknown_one) {
  EXPECT_EQ(make_plan(problem(), {.engine = "reference"}).value().engine, "reference");
  const Status status = make_plan(problem(), {.engine = "abacus"}).status();
  EXPECT_EQ(status.code(), StatusCode::unimplemented);
  EXPECT_EQ(status.rule(), "engine-name");
  EXPECT_NE(status.message().find("abacus"), std::string::npos);
  EXPECT_NE(status.wanted().find("reference"), std::string::npos);
}

TEST(Planner, refuses_a_policy_out_of_range) {
  EXPECT_EQ(make_plan(problem(), {.threads = -1}).status().argument(), "threads");
  EXPECT_EQ(make_plan(problem(), {.threads = kMaxThreads + 1}).status().rule(), "policy");
  EXPECT_EQ(make_plan(problem(), {.workspace_limit = -1}).status().argument(), "workspace_limit");
  const Status math = make_plan(problem(), {.math = static_cast<MathMode>(all_math().size())}).status();
  EXPECT_EQ(math.argument(), "math");
  EXPECT_EQ(math.rule(), "policy");
}

TEST(MathModes, have_names_that_lead_back_to_them) {
  for (const MathInfo& row : all_math()) {
    EXPECT_EQ(math_from_name(row.name).value(), row.math);
    EXPECT_EQ(&info(row.math), &row);
  }
  const Status unknown = math_from_name("tf16").status();
  EXPECT_EQ(unknown.message(),
            "policy: there is no such math mode (math: got \"tf16\", wanted one of: standard, canonical, tf32)");
}

// A CPU has nothing to gain from fewer bits: it computes as it would without the permission, and says so.
TEST(MathModes, tf32_is_a_permission_that_cpus_leave_unused) {
  for (const char* engine : {"cpu", "reference"}) {
    const Plan asked = make_plan(problem(), {.engine = engine, .math = MathMode::tf32}).value();
    const Plan plain = make_plan(problem(), {.engine = engine}).value();
    EXPECT_EQ(asked.math, plain.math) << engine;
    EXPECT_EQ(asked.kernel, plain.kernel) << engine;
    EXPECT_NE(asked.math, MathMode::tf32) << engine;
  }
}

TEST(Planner, honours_the_byte_limit) {
  Policy policy;
  policy.limits.max_bytes = 10;
  EXPECT_EQ(make_plan(problem(), policy).status().code(), StatusCode::resource_exhausted);
}

TEST(Planner, marks_one_proposal_as_chosen) {
  int chosen = 0;
  for (const Proposal& proposal : proposals(validate(problem()).value())) chosen += proposal.chosen;
  EXPECT_EQ(chosen, 1);
}

TEST(Explain, shows_shapes_padding_engine_cost_and_why) {
  const std::string text = explain(problem()).value();
  for (const char* part : {"[2,9,9,16]", "[3,3,16,8]", "[2,5,5,8]", "before [1,1] after [1,1]", "* cpu", "  reference",
                           "math canonical", "cost", "why:"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in\n" << text;
  }
}

TEST(Explain, refuses_what_the_validator_refuses) {
  ConvProblem bad = problem();
  bad.stride = {0, 0, 0};
  EXPECT_EQ(explain(bad).status().rule(), "stride-range");
}

// A plan is public data; what a caller does to it must not reach past the tensors.
TEST(Plan, changed_by_hand_is_refused) {
  const Plan made = make_plan(problem()).value();
  const Tensor x = Tensor::zeros(DType::f32, {2, 9, 9, 16}).value(),
               dy = Tensor::zeros(DType::f32, {2, 5, 5, 8}).value();
  Tensor dw = Tensor::zeros(DType::f32, {3, 3, 16, 8}).value();
  const auto status_of = [&](const Plan& plan) { return run(plan, {x, dy, dw.mutable_view(), {}}); };
  EXPECT_TRUE(status_of(made).ok());
  Plan small = made, empty = made, padded = made, foreign = made;
  small.workspace_bytes = 64;
  empty.program = nullptr;
  padded.geometry.pad_before = {0, 2, 2};
  foreign.program = std::make_shared<EngineProgram>();
  for (const Plan* plan : {&small, &empty, &padded, &foreign}) {
    EXPECT_EQ(status_of(*plan).argument(), "plan");
    EXPECT_EQ(status_of(*plan).code(), StatusCode::invalid_argument);
  }
}

TEST(Engines, are_listed_with_a_description) {
  ASSERT_EQ(all_engines().size(), 3u);
  EXPECT_EQ(all_engines()[0].name, "cpu");
  EXPECT_EQ(all_engines()[0].obstacle, "");
  EXPECT_EQ(all_engines()[1].name, "cuda");
  EXPECT_EQ(all_engines()[2].name, "reference");
}

TEST(Engines, are_refused_by_name_as_their_plans_are) {
  EXPECT_TRUE(check_engine("").ok());
  for (const EngineInfo& engine : all_engines()) {
    const Status status = check_engine(engine.name);
    EXPECT_EQ(status.ok(), engine.obstacle.empty()) << engine.name;
    EXPECT_EQ(status.message(), make_plan(problem(), {.engine = engine.name}).status().message());
  }
  const Status unknown = check_engine("abacus");
  EXPECT_EQ(unknown.rule(), "engine-name");
  EXPECT_EQ(unknown.message(), make_plan(problem(), {.engine = "abacus"}).status().message());
}

}  // namespace
}  // namespace convgrad

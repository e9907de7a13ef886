// ops, doctor and explain say what the library says.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "convgrad/convgrad.h"

namespace convgrad::test {
namespace {

using nlohmann::json;

TEST(Ops, json_holds_every_row_of_the_library) {
  const Outcome ops = program({"ops", "--json"});
  ASSERT_EQ(ops.code, 0);
  const json all = json::parse(ops.out);
  EXPECT_EQ(all["version"], CONVGRAD_VERSION_STRING);
  ASSERT_EQ(all["ops"].size(), all_ops().size());
  ASSERT_EQ(all["dtypes"].size(), all_dtypes().size());
  ASSERT_EQ(all["rules"].size(), all_rules().size());
  for (std::size_t i = 0; i < all_ops().size(); ++i) {
    EXPECT_EQ(all["ops"][i]["name"], all_ops()[i].name);
    EXPECT_EQ(all["ops"][i]["rank"], all_ops()[i].rank);
    EXPECT_EQ(all["ops"][i]["summary"], all_ops()[i].summary);
  }
  for (std::size_t i = 0; i < all_rules().size(); ++i) EXPECT_EQ(all["rules"][i]["id"], all_rules()[i].id);
  EXPECT_EQ(program({"ops", "--json"}).out, ops.out);
}

TEST(Ops, json_says_what_a_filter_gradient_takes) {
  const json all = json::parse(program({"ops", "--json"}).out);
  for (const json& op : all["ops"]) {
    if (op["name"] == "Conv3DBackpropFilterV2") {
      EXPECT_EQ(op["arguments"], json({"input", "filter_sizes", "out_backprop"}));
      EXPECT_EQ(op["dtypes"], json({"float16", "bfloat16", "float32", "float64"}));
      EXPECT_EQ(op["data_formats"], json({"NDHWC", "NCDHW"}));
    }
    if (op["name"] == "Conv2D") {
      EXPECT_EQ(op["dtypes"].back(), "int32");
    }
  }
}

TEST(Ops, text_names_every_op) {
  const Outcome ops = program({"ops"});
  EXPECT_EQ(ops.code, 0);
  for (const OpInfo& op : all_ops())
    EXPECT_NE(("\n" + ops.out).find("\n" + std::string(op.name) + "("), std::string::npos);
  EXPECT_NE(ops.out.find("Conv2DBackpropFilter(input, filter_sizes, out_backprop)\n"), std::string::npos) << ops.out;
}

TEST(Doctor, tells_the_machine_and_the_engines) {
  const SystemInfo system = system_info();
  const Outcome text = program({"doctor"});
  EXPECT_EQ(text.code, 0);
  for (const std::string& part : {system.cpu, system.compiler, std::string(CONVGRAD_VERSION_STRING)})
    EXPECT_NE(text.out.find(part), std::string::npos) << text.out;
  const json all = json::parse(program({"doctor", "--json"}).out);
  EXPECT_EQ(all["cpu"], system.cpu);
  EXPECT_EQ(all["cores"], system.cores);
  EXPECT_EQ(all["features"], json(system.features));
  ASSERT_EQ(all["engines"].size(), all_engines().size());
  for (std::size_t i = 0; i < all_engines().size(); ++i) {
    EXPECT_EQ(all["engines"][i]["name"], all_engines()[i].name);
    EXPECT_EQ(all["engines"][i]["obstacle"], all_engines()[i].obstacle);
    EXPECT_NE(text.out.find(all_engines()[i].obstacle), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("  " + all_engines()[i].name + " "), std::string::npos) << text.out;
  }
}

TEST(Explain, prints_the_librarys_text) {
  const std::string problem = "n1c4d5h6w7_k8t3r3s3_st1x2x2_pad1.0x0.1x2.2_g2_chfirst_bf16_input_grad";
  const Outcome text = program({"explain", problem});
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.out, explain(parse_problem(problem).value()).value());
}

TEST(Explain, refuses_what_the_planner_refuses) {
  const std::string problem = "n1c2h4w4_k3r3s3_same_f32_filter_grad";
  expect_refused(program({"explain", problem, "--engine", "warp"}), "engine-name", "\"warp\"", "unimplemented");
  expect_refused(program({"explain", problem, "--threads", "-1"}), "policy", "got -1");
  expect_refused(program({"explain", problem, "--threads", "many"}), "attr-type", "'many'");
  expect_refused(program({"explain", "nonsense"}), "problem-string", "'nonsense'");
  expect_refused(program({"explain", "n1c2h4w4_k3r3s3_st0_same_f32_filter_grad"}), "stride-range", "strides");
}

}  // namespace
}  // namespace convgrad::test

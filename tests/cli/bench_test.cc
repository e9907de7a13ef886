// convgrad bench on shapes small enough for any engine: rows, verdicts and refusals, never speeds.
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/bench_shapes.h"
#include "cli/bench_verify.h"
#include "cli/operands.h"
#include "cli/program.h"
#include "convgrad/convgrad.h"

namespace convgrad::test {
namespace {

using nlohmann::json;

json flat() {
  return {{"name", "flat_same_groups"}, {"N", 2},           {"Cin", 4},      {"spatial", {9, 8}},  {"Cout", 6},
          {"kernel", {3, 2}},           {"stride", {2, 1}}, {"pad", "SAME"}, {"dilation", {1, 2}}, {"groups", 2}};
}

json deep() {
  return {{"name", "deep_pairs"},           {"N", 1},    {"Cin", 3},
          {"spatial", {4, 6, 5}},           {"Cout", 5}, {"kernel", {3, 3, 3}},
          {"pad", {{1, 1}, {0, 2}, {1, 0}}}};
}

// Writes the shapes and times them for a moment.
Outcome bench(const std::vector<json>& shapes, std::vector<std::string> more = {}) {
  write_file(scratch("shapes.json"), json{{"shapes", shapes}}.dump());
  more.insert(more.begin(), {"bench", scratch("shapes.json"), "--seconds", "0.001"});
  return program(more);
}

Outcome bench_with(const char* key, const char* value) {
  json one = flat();
  one[key] = json::parse(value);
  return bench({one});
}

Outcome bench_without(const char* key) {
  json one = flat();
  one.erase(key);
  return bench({one});
}

TEST(Bench, verifies_and_times_every_cell) {
  const Outcome outcome = bench({flat(), deep()}, {"--threads", "1", "--json", scratch("rows.json")});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const json rows = json::parse(read_file(scratch("rows.json")))["rows"];
  ASSERT_EQ(rows.size(), 2u * 4 * 2 * 3);
  std::set<std::string> problems;
  for (const json& row : rows) {
    EXPECT_EQ(row["verified"], true) << row;
    EXPECT_LE(row["error_of_bound"], 1) << row;
    EXPECT_GT(row["ms"], 0) << row;
    EXPECT_GE(row["median_ms"], row["ms"]) << row;
    EXPECT_EQ(row["threads"], 1);
    const Plan plan = make_plan(parse_problem(row["problem"].get<std::string>()).value()).value();
    EXPECT_EQ(row["dtype"], info(plan.geometry.dtype).id);
    EXPECT_DOUBLE_EQ(row["gflops"], nominal_flops(plan.geometry) / row["ms"].get<double>() * 1e-6);
    problems.insert(row["problem"]);
  }
  EXPECT_EQ(problems.size(), rows.size());
}

TEST(Bench, rows_say_what_was_run) {
  const Outcome outcome =
      bench({flat(), deep()}, {"--ops", "input", "--dtypes", "bf16", "--layouts", "first", "--match", "deep",
                               "--engine", "reference", "--json", scratch("rows.json")});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const json report = json::parse(read_file(scratch("rows.json")));
  ASSERT_EQ(report["rows"].size(), 1u);
  const json& row = report["rows"][0];
  EXPECT_EQ(row["shape"], "deep_pairs");
  EXPECT_EQ(row["op"], "input");
  EXPECT_EQ(row["layout"], "first");
  EXPECT_EQ(row["problem"], "n1c3d4h6w5_k5t3r3s3_st1_di1_pad1.1x0.2x1.0_g1_chfirst_bf16_input_grad");
  EXPECT_EQ(row["engine"], "reference");
  EXPECT_EQ(
      row["kernel"],
      make_plan(parse_problem(row["problem"].get<std::string>()).value(), {.engine = "reference"}).value().kernel);
  EXPECT_EQ(row["isa"], cpu_isa());
  const json& machine = report["machine"];
  EXPECT_EQ(machine["cpu"], system_info().cpu);
  EXPECT_EQ(machine["version"], CONVGRAD_VERSION_STRING);
  EXPECT_EQ(machine["date"].get<std::string>().size(), 20u);
  for (const char* figure : {"f32_gflops_per_core", "f64_gflops_per_core", "copy_gbytes_per_second"})
    EXPECT_GT(machine[figure], 0) << figure;
  const double peak = machine["f32_gflops_per_core"].get<double>() * row["threads"].get<double>();
  EXPECT_DOUBLE_EQ(row["peak_fraction"], row["gflops"].get<double>() / peak);
}

TEST(Bench, takes_an_instruction_set_of_this_machine) {
  const Outcome outcome = bench({flat()}, {"--isa", cpu_isa(), "--dtypes", "f32", "--json", scratch("rows.json")});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const json report = json::parse(read_file(scratch("rows.json")));
  for (const json& row : report["rows"]) EXPECT_EQ(row["isa"], cpu_isa());
}

TEST(Bench, prints_a_line_a_cell_and_the_means) {
  const std::string out = bench({flat(), deep()}, {"--ops", "filter", "--dtypes", "f64"}).out;
  EXPECT_TRUE(out.starts_with("shape ")) << out;
  for (const char* part :
       {"flat_same_groups           f64  last  filter ", "deep_pairs                 f64  first filter ",
        "geometric mean             f64  last  filter     2 cells"})
    EXPECT_NE(out.find(part), std::string::npos) << out << "wanted " << part;
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 1 + 4 + 2) << out;
}

TEST(Bench, refuses_words_it_does_not_know) {
  expect_refused(bench({flat()}, {"--ops", "filtre"}), "op-name", "did you mean 'filter'?");
  expect_refused(bench({flat()}, {"--ops", "filter,"}), "op-name", "--ops");
  expect_refused(bench({flat()}, {"--dtypes", "i32"}), "dtype", "wanted f32, f64, bf16, f16");
  expect_refused(bench({flat()}, {"--layouts", "frist"}), "format-name", "did you mean 'first'?");
  expect_refused(bench({flat()}, {"--engine", "warp"}), "engine-name", "\"warp\"", "unimplemented");
  expect_refused(bench({flat()}, {"--threads", "-1"}), "policy", "got -1");
  expect_refused(bench({flat()}, {"--isa", "avx1024"}), "engine-name", "'avx1024'");
  for (const char* seconds : {"0", "-1", "inf", "nan", "1s", ""})
    expect_refused(program({"bench", scratch("shapes.json"), "--seconds", seconds}), "attr-type", "a number above 0");
  expect_refused(bench({flat()}, {"--match", "vgg"}), "problem-string", "'vgg'");
}

TEST(Bench, refuses_shapes_of_another_form) {
  write_file(scratch("shapes.json"), "{\"shapes\": [");
  expect_refused(program({"bench", scratch("shapes.json")}), "problem-string", "not JSON");
  write_file(scratch("shapes.json"), "[]");
  expect_refused(program({"bench", scratch("shapes.json")}), "problem-string", "no list of shapes");
  expect_refused(bench({}), "problem-string", "no such shape");
  expect_refused(bench({7}), "attr-type", "shape");
  expect_refused(bench_without("name"), "problem-string", "no name");
  expect_refused(bench_without("N"), "problem-string", "'flat_same_groups' has no N");
  expect_refused(bench_without("pad"), "problem-string", "has no pad");
  expect_refused(bench_with("Cin", "\"4\""), "attr-type", "flat_same_groups.Cin");
  expect_refused(bench_with("spatial", "[]"), "problem-string", "got 0, wanted 1, 2 or 3");
  expect_refused(bench_with("kernel", "[3]"), "problem-string", "flat_same_groups.kernel: got 1, wanted 2");
  expect_refused(bench_with("pad", "\"EDGE\""), "attr-type", "\"EDGE\"");
  expect_refused(bench_with("pad", "[[1, 1]]"), "problem-string", "wanted 2, a pair a dimension");
  expect_refused(bench_with("pad", "[[1, 1], [1]]"), "problem-string", "before and after");
  expect_refused(bench_with("groups", "3"), "group-divisibility", "a divisor of Cin, 4");
  expect_refused(bench_with("groups", "0"), "group-divisibility", "got 0");
  expect_refused(bench_with("stride", "[0, 1]"), "stride-range", "strides");
}

TEST(Bench, files_that_cannot_be_used_are_failures) {
  expect_failed(program({"bench", scratch("none.json")}), "No such file or directory");
  expect_failed(bench({flat()}, {"--ops", "filter", "--dtypes", "f32", "--json", "/no/such/folder/rows.json"}),
                "cannot write");
  expect_usage_error(program({"bench", ""}), "a file name is missing");
}

TEST(Bench, help_leads_with_examples) {
  EXPECT_TRUE(program({"bench", "--help"}).out.starts_with("Examples:\n  convgrad bench "));
}

TEST(BenchShapes, the_kept_file_is_legal) {
  const auto shapes = cli::parse_shapes(read_file(CONVGRAD_SOURCE_DIR "/bench/shapes.json"));
  ASSERT_TRUE(shapes.ok()) << shapes.status().message();
  EXPECT_EQ(shapes->size(), 30u);
  for (const cli::BenchShape& shape : *shapes) EXPECT_TRUE(validate(shape.problem).ok()) << shape.name;
}

struct Computed {
  Geometry geometry;
  Tensor first, second, result;
  bool right() const { return cli::verify({geometry, first, second, result}).right; }
};

Computed computed(const std::string& text) {
  const Plan plan = make_plan(parse_problem(text).value()).value();
  const std::vector<Operand> read = operands(plan.geometry);
  Computed c{plan.geometry, cli::random_operand(plan.geometry.dtype, read[0].shape, 5, 0).value(),
             cli::random_operand(plan.geometry.dtype, read[1].shape, 5, 1).value(),
             Tensor::zeros(plan.geometry.dtype, result_shape(plan.geometry)).value()};
  EXPECT_TRUE(run(plan, {c.first, c.second, c.result.mutable_view()}).ok());
  return c;
}

// Results of at most 200 elements, each of which is looked at.
TEST(BenchVerify, sees_one_wrong_element) {
  for (const char* op : {"forward", "input_grad", "filter_grad"}) {
    for (const char* layout : {"chlast", "chfirst"}) {
      Computed c = computed(std::string("n2c4h5w4_k4r3s3_st2x1_di1x2_same_g2_") + layout + "_f64_" + op);
      ASSERT_LE(c.result.size(), 200);
      EXPECT_TRUE(c.right()) << op;
      for (double& element : c.result.as<double>()) {
        const double kept = element;
        element = kept + 1e-13;
        EXPECT_FALSE(c.right()) << op;
        element = std::numeric_limits<double>::quiet_NaN();
        EXPECT_FALSE(c.right()) << op;
        element = kept;
      }
      EXPECT_TRUE(c.right()) << op;
    }
  }
}

TEST(BenchVerify, allows_one_rounding_of_the_store_and_not_two_units) {
  Computed half = computed("n2c4w9_k3s3_same_f16_filter_grad");
  EXPECT_TRUE(half.right());
  half.result.as<Half>()[0].bits += 2;
  EXPECT_FALSE(half.right());
  Computed brain = computed("n2c4w9_k3s3_same_bf16_filter_grad");
  EXPECT_TRUE(brain.right());
  brain.result.as<BFloat16>()[0].bits += 2;
  EXPECT_FALSE(brain.right());
}

TEST(BenchVerify, a_sum_without_terms_is_zero) {
  Computed c = computed("n1c1w2_k1s3_pad4.4_f32_forward");
  EXPECT_TRUE(c.right());
  EXPECT_EQ(c.result.at(0), 0);
  c.result.as<float>()[0] = 1e-30f;
  EXPECT_FALSE(c.right());
}

}  // namespace
}  // namespace convgrad::test

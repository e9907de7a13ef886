// convgrad run: the result file holds the library's bits, the summary its facts.
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "cli/npy.h"
#include "cli/operands.h"
#include "cli/program.h"
#include "convgrad/convgrad.h"

namespace convgrad::test {
namespace {

using nlohmann::json;

constexpr const char* kProblem = "n1c2h4w4_k3r3s3_same_f32_filter_grad";

struct Operands {
  Tensor first, second;
};

Operands random_operands(const ConvProblem& problem, std::uint64_t seed) {
  const std::vector<Operand> wanted = operands(validate(problem).value());
  Operands made;
  made.first = cli::random_operand(problem.dtype, wanted[0].shape, seed, 0).value();
  if (wanted.size() > 1) made.second = cli::random_operand(problem.dtype, wanted[1].shape, seed, 1).value();
  return made;
}

void expect_same_bits(const graph::Tensor& got, const Tensor& wanted) {
  ASSERT_EQ(got.dtype(), graph::data_type_of(wanted.dtype()));
  ASSERT_EQ(got.shape().dim_sizes(), wanted.shape());
  EXPECT_EQ(std::memcmp(got.data(), wanted.data(), static_cast<std::size_t>(wanted.bytes())), 0)
      << got.DebugString() << "\nwanted " << wanted.to_text();
}

TEST(Run, gives_the_librarys_bits_for_every_dtype_and_direction) {
  for (const DTypeInfo& dtype : all_dtypes()) {
    for (const char* direction : {"forward", "input_grad", "filter_grad", "bias_grad"}) {
      for (const char* sizes : {"n2c4h7w6_k6r3s2_st2x1_same_g2_", "n2c2w9_k3s3_di2_valid_chfirst_",
                                "n1c2d3h4w5_k3t2r2s3_pad1.0x0.1x1.1_"}) {
        const std::string text = std::string(sizes) + std::string(dtype.id) + "_" + direction;
        const ConvProblem problem = parse_problem(text).value();
        const Outcome ran = program({"run", text, "--seed", "7", "--out", scratch("r.npy")});
        if (!validate(problem).ok()) {
          EXPECT_EQ(ran.code, 2) << text;  // int32 where the op does not take it
          continue;
        }
        ASSERT_EQ(ran.code, 0) << text << ": " << ran.err;
        const Operands made = random_operands(problem, 7);
        expect_same_bits(cli::read_npy(scratch("r.npy"), problem.dtype, "r").value(),
                         compute(problem, made.first, made.second).value());
      }
    }
  }
}

TEST(Run, takes_operands_from_files) {
  const Tensor x = Tensor::from<float>({1, 4, 1}, std::vector<float>{1, 2, 3, 4}).value();
  const Tensor f = Tensor::from<float>({2, 1, 1}, std::vector<float>{10, 1}).value();
  cli::write_npy(scratch("x.npy"), x);
  cli::write_npy(scratch("f.npy"), f);
  const Outcome ran = program({"run", "n1c1w4_k1s2_valid_forward", "--first", scratch("x.npy"), "--second",
                               scratch("f.npy"), "--out", scratch("y.npy"), "--json"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json summary = json::parse(ran.out);
  EXPECT_EQ(summary["values"], json({12.0, 23.0, 34.0}));
  EXPECT_EQ(summary["min"], 12.0);
  EXPECT_EQ(summary["max"], 34.0);
  EXPECT_EQ(summary["mean"], 23.0);
  EXPECT_EQ(summary["result_shape"], json({1, 3, 1}));
  expect_same_bits(cli::read_npy(scratch("y.npy"), DType::f32, "y").value(),
                   Tensor::from<float>({1, 3, 1}, std::vector<float>{12, 23, 34}).value());
}

TEST(Run, a_file_for_one_operand_leaves_the_other_random_one) {
  const ConvProblem problem = parse_problem(kProblem).value();
  const Operands made = random_operands(problem, 3);
  cli::write_npy(scratch("x.npy"), made.first);
  const std::string without = program({"run", kProblem, "--seed", "3", "--json"}).out;
  const std::string with = program({"run", kProblem, "--seed", "3", "--first", scratch("x.npy"), "--json"}).out;
  EXPECT_EQ(json::parse(with)["values"], json::parse(without)["values"]);
  const std::string other = program({"run", kProblem, "--seed", "4", "--json"}).out;
  EXPECT_NE(json::parse(other)["values"], json::parse(without)["values"]);
}

TEST(Run, threads_change_no_bit) {
  ASSERT_EQ(program({"run", kProblem, "--out", scratch("a.npy")}).code, 0);
  ASSERT_EQ(program({"run", kProblem, "--threads", "3", "--engine", "cpu", "--out", scratch("b.npy")}).code, 0);
  EXPECT_EQ(read_file(scratch("a.npy")), read_file(scratch("b.npy")));
}

TEST(Run, prints_a_readable_summary) {
  const Outcome ran = program({"run", "n1c1w4_k1s2_valid_i32_forward", "--seed", "7"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  for (const char* part :
       {"problem    n1c1w4_k1s2_st1_di1_valid_g1_i32_forward\n", "result     i32 [1,3,1]\n", "min        ",
        "max        ", "mean       ", "values     ", "engine     ", "kernel     ", "time       ", " ms\n"})
    EXPECT_NE(ran.out.find(part), std::string::npos) << ran.out << "wanted " << part;
  EXPECT_NE(program({"run", "n0c1h4w4_k1r3s3_same_forward"}).out.find("the result is empty"), std::string::npos);
}

TEST(Run, shows_eight_values_and_says_there_are_more) {
  const json summary = json::parse(program({"run", kProblem, "--json"}).out);
  ASSERT_EQ(summary["values"].size(), 8u);
  const ConvProblem problem = parse_problem(kProblem).value();
  const Operands made = random_operands(problem, 0);
  const Tensor wanted = compute(problem, made.first, made.second).value();
  for (int i = 0; i < 8; ++i) EXPECT_EQ(summary["values"][static_cast<std::size_t>(i)], wanted.at(i));
  EXPECT_NE(program({"run", kProblem}).out.find(" ...\n"), std::string::npos);
}

TEST(Run, not_a_number_shows_in_the_summary) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  cli::write_npy(scratch("x.npy"), Tensor::from<float>({1, 4, 1}, std::vector<float>{1, nan, 3, 4}).value());
  const std::vector<std::string> args = {"run", "n1c1w4_k1s1_valid_forward", "--first", scratch("x.npy")};
  EXPECT_NE(program(args).out.find("min        nan\nmax        nan\nmean       nan\n"), std::string::npos);
}

TEST(Run, dry_run_shows_bytes_and_runs_nothing) {
  const Outcome dry = program({"run", "n8c64h56w56_k64r3s3_same_f16_filter_grad", "--dry-run", "--out", scratch("no")});
  EXPECT_EQ(dry.code, 0);
  EXPECT_NE(dry.out.find("input          f16 [8,56,56,64] 3211264 bytes\n"), std::string::npos) << dry.out;
  EXPECT_NE(dry.out.find("result         f16 [3,3,64,64] 73728 bytes\n"), std::string::npos) << dry.out;
  EXPECT_EQ(read_file(scratch("no")), "");
  const json plan = json::parse(program({"run", kProblem, "--dry-run", "--json"}).out);
  EXPECT_EQ(plan["tensors"][0], json({{"name", "input"}, {"shape", {1, 4, 4, 2}}, {"bytes", 128}}));
  EXPECT_EQ(plan["engine"], make_plan(parse_problem(kProblem).value()).value().engine);
  EXPECT_EQ(plan["math"], info(make_plan(parse_problem(kProblem).value()).value().math).name);
}

TEST(Run, takes_a_math_mode_by_name) {
  const std::string wanted = program({"run", kProblem, "--json"}).out;
  for (const MathInfo& row : all_math()) {
    const Outcome got = program({"run", kProblem, "--math", std::string(row.name), "--json"});
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_EQ(json::parse(got.out)["values"], json::parse(wanted)["values"]) << row.name;
  }
  expect_usage_error(program({"run", kProblem, "--math", "tf23"}), "there is no 'tf23'; did you mean 'tf32'?");
}

TEST(Run, refuses_what_the_library_refuses) {
  expect_refused(program({"run", "n1c2"}), "problem-string", "'n1c2'");
  expect_refused(program({"run", "n1c2h4w4_k3r3s3_st0_same_f32_filter_grad"}), "stride-range", "strides");
  expect_refused(program({"run", kProblem, "--engine", "warp"}), "engine-name", "\"warp\"", "unimplemented");
  expect_refused(program({"run", kProblem, "--threads", "99999"}), "policy", "got 99999");
  expect_refused(program({"run", kProblem, "--threads", "99999999999"}), "policy", "got 99999999999");
  expect_refused(program({"run", kProblem, "--threads", "2.5"}), "attr-type", "--threads");
  expect_refused(program({"run", kProblem, "--seed", "-1"}), "attr-type", "0 or more");
  expect_refused(program({"run", kProblem, "--seed", "99999999999999999999"}), "overflow", "--seed");
  const Outcome as_json = program({"run", "n1c2h4w4_k3r3s3_st0_same_f32_filter_grad", "--json"});
  EXPECT_EQ(as_json.code, 2);
  EXPECT_EQ(json::parse(as_json.out)["rule"], "stride-range");
}

TEST(Run, refuses_more_than_the_machine_has) {
  expect_refused(program({"run", "n1c1h500000w500000_k1r3s3_same_f32_filter_grad"}), "resource", "memory",
                 "resource_exhausted");
}

TEST(Run, refuses_operands_of_the_wrong_kind) {
  cli::write_npy(scratch("x.npy"), Tensor::zeros(DType::f64, {1, 4, 4, 2}).value());
  expect_refused(program({"run", kProblem, "--first", scratch("x.npy")}), "dtype",
                 R"(got "<f8", wanted "<f4", float32)");
  cli::write_npy(scratch("x.npy"), Tensor::zeros(DType::f32, {1, 4, 4, 3}).value());
  expect_refused(program({"run", kProblem, "--first", scratch("x.npy")}), "operand-shape", "[1,4,4,3]");
  cli::write_npy(scratch("dy.npy"), Tensor::zeros(DType::f32, {1, 4, 4, 2}).value());
  expect_refused(program({"run", kProblem, "--second", scratch("dy.npy")}), "operand-shape", "out_backprop");
  expect_refused(program({"run", "n1c2h4w4_k3r3s3_same_f32_bias_grad", "--second", scratch("x.npy")}), "operand-data",
                 "bias_grad reads one tensor");
  write_file(scratch("x.npy"), "not numpy at all");
  expect_refused(program({"run", kProblem, "--first", scratch("x.npy")}), "operand-data", "does not start as one");
}

TEST(Run, files_that_cannot_be_used_are_failures) {
  expect_failed(program({"run", kProblem, "--first", scratch("none.npy")}), "No such file or directory");
  expect_failed(program({"run", kProblem, "--second", "/tmp"}), "not a plain file");
  expect_failed(program({"run", kProblem, "--first", "/dev/zero"}), "not a plain file");
  expect_failed(program({"run", kProblem, "--out", "/no/such/folder/r.npy"}), "cannot write");
  expect_failed(program({"run", kProblem, "--out", "/dev/full"}), "No space left on device");
}

// The numbers come from an implementation of splitmix64 in another language.
TEST(RandomOperand, draws_the_numbers_of_splitmix64) {
  cli::SplitMix64 stream{0};
  EXPECT_EQ(stream.next(), 0xE220A8397B1DCDAFu);
  const Tensor a = cli::random_operand(DType::f64, {3}, 0, 0).value();
  EXPECT_EQ(a.at(0), 0x1.3836e97a68cbcp-2);
  EXPECT_EQ(a.at(1), 0x1.9c15182fa20a4p-2);
  EXPECT_EQ(a.at(2), -0x1.ce56eab045410p-3);
  const Tensor b = cli::random_operand(DType::f64, {2}, 7, 1).value();
  EXPECT_EQ(b.at(0), 0x1.2a7ead9088ec0p-6);
  EXPECT_EQ(b.at(1), 0x1.014b16f035fc8p-1);
  const Tensor c = cli::random_operand(DType::i32, {8}, 7, 0).value();
  const int wanted[] = {-2, 7, -2, -4, -8, -7, 6, -6};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(c.at(i), wanted[i]);
  EXPECT_EQ(cli::random_operand(DType::f32, {1}, 0, 0)->at(0), static_cast<float>(0x1.3836e97a68cbcp-2));
}

}  // namespace
}  // namespace convgrad::test

// Knobs as text, tune files of any bytes, and that knobs change no bits.
#include "planner/tune_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/knobs.h"
#include "support/problems.h"

namespace convgrad {
namespace {

constexpr const char* kProblem = "n8c64h56w56_k64r3s3_same_f32_forward";
std::string key_of(const char* problem) {
  return to_text(problem_of(validate(parse_problem(problem).value()).value()));
}

std::string complaint_of(std::string_view text) {
  const TuneFile file = parse_tune_file(text, "avx512");
  EXPECT_TRUE(file.complaint.empty() || file.knobs.empty()) << "half a file is used";
  return file.complaint;
}

TEST(Knobs, are_text_and_back) {
  const Knobs knobs{.most_region = 512, .units = 8};
  EXPECT_EQ(to_text(knobs), "most_region=512 units=8");
  EXPECT_EQ(parse_knobs(to_text(knobs)).value(), knobs);
  EXPECT_EQ(to_text(Knobs{}), "");
  EXPECT_EQ(parse_knobs("").value(), Knobs{});
}

TEST(Knobs, out_of_range_are_refused_everywhere) {
  const ConvProblem problem = parse_problem(kProblem).value();
  for (const KnobInfo& knob : all_knobs()) {
    EXPECT_LE(knob.least, knob.tries.front()) << knob.name;
    EXPECT_GE(knob.most, knob.tries.back()) << knob.name;
    for (const std::int64_t value : {std::int64_t{-1}, knob.most + 1}) {
      Knobs knobs;
      knobs.*knob.field = value;
      EXPECT_EQ(make_plan(problem, {.knobs = knobs}).status().argument(), knob.name);
      for (const Proposal& proposal : proposals(validate(problem).value(), {.knobs = knobs}))
        EXPECT_EQ(proposal.plan.status().rule(), "policy") << proposal.engine;
      EXPECT_FALSE(parse_knobs(to_text(knobs)).ok());
    }
  }
  for (const char* text : {"units", "units=", "units=x", "units=8x", "units= 8", "=8", "Units=8", "units=8,",
                           "units=99999999999999999999", "most_region=63"})
    EXPECT_FALSE(parse_knobs(text).ok()) << text;
}

TEST(TuneFile, gives_a_problem_its_knobs_however_it_is_spelled) {
  const TuneFile file = parse_tune_file(
      "# a comment\n\n"
      "n8c64h56w56_k64r3s3_same_f32_forward avx512 most_region=512 units=8\n"
      "n8c64h56w56_k64r3s3_pad1.1_f32_input_grad avx512 units=4\n"
      "n8c64h56w56_k64r3s3_same_f64_forward avx2 units=64",
      "avx512");
  EXPECT_EQ(file.complaint, "");
  ASSERT_EQ(file.knobs.size(), 2u) << "lines of other instruction sets are skipped";
  EXPECT_EQ(file.knobs.at(key_of(kProblem)), (Knobs{.most_region = 512, .units = 8}));
  EXPECT_EQ(file.knobs.at(key_of("n8c64h56w56_k64r3s3_same_f32_input_grad")), Knobs{.units = 4});
}

TEST(TuneFile, is_read_back_as_it_is_written) {
  const Geometry geometry = validate(parse_problem(kProblem).value()).value();
  const Knobs knobs{.staged_elements = 65536, .few_results = 4};
  const TuneFile file = parse_tune_file(tune_line(geometry, knobs) + "\n", cpu_isa());
  EXPECT_EQ(file.complaint, "");
  EXPECT_EQ(file.knobs.at(key_of(kProblem)), knobs);
}

TEST(TuneFile, with_a_bad_line_is_not_used_at_all) {
  const std::string good = std::string(kProblem) + " avx512 units=8\n";
  EXPECT_EQ(complaint_of(good), "");
  EXPECT_EQ(complaint_of(good + "nonsense\n"), "line 2 is refused by rule problem-string");
  EXPECT_EQ(complaint_of(good + std::string(kProblem) + " avx512 unit=8"), "line 2 is refused by rule policy");
  EXPECT_EQ(complaint_of("\n\n" + std::string(kProblem) + " avx512 units=0x8"), "line 3 is refused by rule policy");
  EXPECT_EQ(complaint_of("n8c64h56w56_k64r3s3_st0_same_f32_forward avx512 units=8"),
            "line 1 is refused by rule stride-range");
  EXPECT_NE(complaint_of(std::string_view("\0\xff\x1b[2J", 6)), "");
}

// Bytes of a good file, changed, cut and mixed: never a crash, never half a file, and no byte of it repeated.
TEST(TuneFile, of_any_bytes_is_a_complaint_or_is_used) {
  test::Random random(31);
  const std::string good = std::string(kProblem) + " avx512 most_region=512 units=8\n# note\n" + kProblem + " avx2 x\n";
  for (int round = 0; round < 20000; ++round) {
    std::string text =
        good.substr(0, static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(good.size()))));
    for (std::int64_t change = random.between(0, 6); change > 0 && !text.empty(); --change)
      text[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(text.size()) - 1))] =
          static_cast<char>(random.bits());
    for (const char byte : complaint_of(text)) ASSERT_TRUE(byte >= ' ' && byte <= '~');
  }
}

TEST(TuneFile, that_cannot_be_read_is_a_complaint) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("convgrad_tune_file_" + std::to_string(test::Random(32).bits()));
  fs::create_directory(folder);
  const std::string path = folder / "tuned.txt";
  EXPECT_EQ(read_tune_file(path, "avx512").complaint, "there is no such file");
  EXPECT_EQ(read_tune_file(folder, "avx512").complaint, "there is no such file");
  EXPECT_EQ(read_tune_file("/dev/zero", "avx512").complaint, "there is no such file");
  std::ofstream(path) << "# nothing\n";
  EXPECT_EQ(read_tune_file(path, "avx512").complaint, "");
  std::ofstream(path) << std::string((4 << 20) + 1, '#');
  EXPECT_EQ(read_tune_file(path, "avx512").complaint, "it is larger than 4194304 bytes");
  fs::remove_all(folder);
}

Knobs random_knobs(test::Random& random) {
  Knobs knobs;
  for (const KnobInfo& knob : all_knobs()) {
    if (!knob.keeps_bits || random.between(0, 3) == 0) continue;
    // Small numbers cut even small problems into many units.
    knobs.*knob.field = random.between(0, 1) == 0 ? random.between(knob.least, std::min(knob.most, 4 * knob.least))
                                                  : random.between(knob.least, knob.most);
  }
  return knobs;
}

// How often other knobs cut the problem otherwise; never may they change a bit. The file's knobs reach an engine in
// the same field of the policy.
int cut_otherwise(test::Random& random, const Geometry& geometry, int draws) {
  const test::Operands given = test::real_operands(random, geometry);
  const ConvProblem problem = problem_of(geometry);
  const auto computed = [&](const Policy& policy) {
    return compute(problem, given.first, given.second, policy).value();
  };
  const Tensor wanted = computed({.engine = "cpu", .knobs = Knobs{}});
  const Plan own = make_plan(geometry, {.engine = "cpu", .knobs = Knobs{}}).value();
  int count = 0;
  for (int draw = 0; draw < draws; ++draw) {
    const Knobs knobs = random_knobs(random);
    const int threads = static_cast<int>(random.between(1, 5));
    EXPECT_EQ(test::difference(computed({.engine = "cpu", .threads = threads, .knobs = knobs}), wanted), "")
        << to_text(problem) << " " << to_text(knobs);
    count += make_plan(geometry, {.engine = "cpu", .knobs = knobs}).value().why != own.why;
  }
  return count;
}

TEST(Knobs, that_keep_bits_keep_them) {
  test::Random random(33);
  int otherwise = 0;
  for (int round = 0; round < 200; ++round) {
    ConvProblem problem = test::random_problem(random, 1e6);
    problem.direction = random.one_of({Direction::forward, Direction::input_grad});
    problem.in = {problem.in[0] * 3, problem.in[1] * 3, problem.in[2] * 3};
    problem.out = {};
    if (const Result<Geometry> geometry = validate(problem); geometry.ok())
      otherwise += cut_otherwise(random, *geometry, 3);
  }
  EXPECT_GT(otherwise, 50);
}

// Large enough to be shared among units, in every form, with sums of one block and of several.
TEST(Knobs, that_keep_bits_keep_them_in_every_form) {
  test::Random random(34);
  for (const char* text : {"n1c64h24w24_k160r3s3_same_f32_", "n1c3h96w96_k32r3s3_st2_same_f32_",
                           "n1c96h40w40_k96r5s5_same_g96_f32_", "n1c96h40w40_k96r5s5_same_g96_chfirst_bf16_",
                           "n1c256h14w14_k256r3s3_same_f64_", "n1c64h24w24_k160r3s3_same_chfirst_f16_"}) {
    for (const char* direction : {"forward", "input_grad"}) {
      const Geometry geometry = validate(parse_problem(std::string(text) + direction).value()).value();
      EXPECT_GT(cut_otherwise(random, geometry, 8), 0) << text << direction;
    }
  }
}

// Integers: their sums are exact in any order.
TEST(Knobs, that_change_the_order_of_sums_give_right_answers) {
  test::Random random(35);
  const Geometry geometry = validate(parse_problem("n1c3h24w24_k32r3s3_st2_same_f32_input_grad").value()).value();
  const test::Operands given = test::random_operands(random, geometry);
  const Tensor wanted = test::by_definition(geometry, given.first, given.second);
  for (const std::int64_t few : {2, 3}) {
    const Policy policy{.knobs = Knobs{.few_results = few}};
    EXPECT_NE(make_plan(geometry, policy)->kernel.find(few == 2 ? "_dense_" : "_dot_"), std::string::npos);
    const Tensor got = compute(problem_of(geometry), given.first, given.second, policy).value();
    EXPECT_EQ(test::difference(got, wanted), "") << few;
  }
}

}  // namespace
}  // namespace convgrad

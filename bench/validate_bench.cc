// Time of one validation, for every op as a call and for every direction as a problem; of reading a
// problem string; and of refusals. The target is a median under 2 microseconds for what is legal.
//   build/dev/bench/validate_bench
#include <benchmark/benchmark.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "convgrad/convgrad.h"

namespace {

using namespace convgrad;

// A typical layer: batch 32, 64 -> 128 channels, 56 cells a side, filter 3, stride 2, SAME.
constexpr std::int64_t kBatch = 32, kIn = 64, kOut = 128, kSize = 56, kHalf = 28, kFilter = 3;

struct TypicalCall {
  std::vector<std::int64_t> input{kBatch}, filter, out{kBatch}, strides{1}, ones;
  ConvCall call;

  explicit TypicalCall(const OpInfo& op) : ones(static_cast<std::size_t>(op.rank) + 2, 1) {
    for (int i = 0; i < op.rank; ++i) {
      input.push_back(kSize);
      filter.push_back(kFilter);
      out.push_back(kHalf);
      strides.push_back(2);
    }
    input.push_back(kIn);
    filter.insert(filter.end(), {kIn, kOut});
    out.push_back(kOut);
    strides.push_back(1);
    fill(op);
  }
  TypicalCall(const TypicalCall&) = delete;

 private:
  void fill(const OpInfo& op) {
    call.op = op.op;
    if (op.direction != Direction::input_grad) call.input = input;
    if (op.direction != Direction::filter_grad) call.filter = filter;
    if (op.direction != Direction::forward) call.out_backprop = out;
    call.sizes = op.direction == Direction::input_grad ? input : filter;
    call.strides = strides;
    call.dilations = ones;
    call.padding = "SAME";
    call.data_format = data_format(Layout::channels_last, op.rank);
  }
};

Geometry expected(Direction direction, int rank) {
  Geometry g;
  g.direction = direction;
  g.rank = rank;
  g.n = kBatch;
  g.c_in = kIn;
  g.c_out = kOut;
  g.in = g.filter = g.out = {1, 1, 1};
  for (std::size_t i = static_cast<std::size_t>(3 - rank); i < 3; ++i) {
    g.in[i] = kSize;
    g.filter[i] = kFilter;
    g.out[i] = kHalf;
    g.stride[i] = 2;
    g.pad_after[i] = 1;  // (28 - 1) * 2 + 3 - 56 = 1 cell, which SAME puts behind
  }
  return g;
}

void demand(bool fact, const std::string& what) {
  if (fact) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

void time_call(benchmark::State& state, const OpInfo& op) {
  const TypicalCall owned(op);
  const Result<Geometry> found = validate(owned.call);
  demand(found.ok() && *found == expected(op.direction, op.rank), "wrong geometry: " + found.status().message());
  for (auto _ : state) benchmark::DoNotOptimize(validate(owned.call));
}

std::string problem_text(Direction direction, int rank) {
  constexpr std::array<const char*, 3> kShapes = {"n32c64w56_k128s3", "n32c64h56w56_k128r3s3",
                                                  "n32c64d56h56w56_k128t3r3s3"};
  return std::string(kShapes[static_cast<std::size_t>(rank - 1)]) + "_st2_same_f32_" + std::string(name(direction));
}

void time_problem(benchmark::State& state, Direction direction, int rank) {
  const ConvProblem problem = parse_problem(problem_text(direction, rank)).value();
  const Result<Geometry> found = validate(problem);
  demand(found.ok() && *found == expected(direction, rank), "wrong geometry: " + found.status().message());
  for (auto _ : state) benchmark::DoNotOptimize(validate(problem));
}

void time_parse(benchmark::State& state) {
  const std::string text = "n1c4d5h6w7_k8t3r3s3_st1x2x2_di2_pad1.0x0.1x2.2_g2_chfirst_bf16_input_grad";
  demand(to_text(parse_problem(text).value()) == text, "text and back differ");
  for (auto _ : state) benchmark::DoNotOptimize(parse_problem(text));
}

void time_refusal(benchmark::State& state) {
  TypicalCall owned(info(Op::conv2d_backprop_filter));
  owned.out[1] = kHalf + 1;
  demand(validate(owned.call).status().rule() == "out-shape-mismatch", "refused by another rule");
  for (auto _ : state) benchmark::DoNotOptimize(validate(owned.call));
}

void time_parse_refusal(benchmark::State& state) {
  const std::string text = "n2c16h9w9_k8r3s3_st2_sam_f32_filter_grad";
  demand(parse_problem(text).status().rule() == "problem-string", "refused by another rule");
  for (auto _ : state) benchmark::DoNotOptimize(parse_problem(text));
}

void median_of_nine(benchmark::internal::Benchmark* bench) { bench->Repetitions(9)->ReportAggregatesOnly(); }

void register_all() {
  for (const OpInfo& op : all_ops()) {
    const auto body = [&op](benchmark::State& state) { time_call(state, op); };
    median_of_nine(benchmark::RegisterBenchmark(("call/" + std::string(op.name)).c_str(), body));
  }
  for (const Direction direction :
       {Direction::forward, Direction::input_grad, Direction::filter_grad, Direction::bias_grad}) {
    for (int rank = 1; rank <= 3; ++rank) {
      const auto body = [=](benchmark::State& state) { time_problem(state, direction, rank); };
      const std::string title = "problem/" + std::string(name(direction)) + "_" + std::to_string(rank) + "d";
      median_of_nine(benchmark::RegisterBenchmark(title.c_str(), body));
    }
  }
  median_of_nine(benchmark::RegisterBenchmark("parse_problem", time_parse));
  median_of_nine(benchmark::RegisterBenchmark("refused_call", time_refusal));
  median_of_nine(benchmark::RegisterBenchmark("refused_text", time_parse_refusal));
}

}  // namespace

int main(int argc, char** argv) {
  const SystemInfo system = system_info();
  benchmark::AddCustomContext("cpu", system.cpu);
  benchmark::AddCustomContext("compiler", system.compiler);
  benchmark::AddCustomContext("convgrad", system.version);
  register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

// What a call costs beside its arithmetic: a tiny problem (input 1x4x4x1, filter 3x3x1x1, f32, SAME: 100 multiply-adds)
// with a ready plan, with a plan remembered from an earlier call, and planned from nothing. Targets: under 0.5
// microseconds with a ready plan, under 5 with planning.
//   build/release/bench/tiny_bench
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "convgrad/convgrad.h"

namespace {

using namespace convgrad;

void demand(bool fact, const std::string& what) {
  if (fact) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

struct Tiny {
  Geometry geometry;
  Plan plan;
  Tensor first, second, result;

  explicit Tiny(Direction direction)
      : geometry(validate(parse_problem("n1c1h4w4_k1r3s3_same_f32_" + std::string(name(direction))).value()).value()),
        plan(make_plan(geometry).value()) {
    const std::vector<Operand> read = operands(geometry);
    first = filled(read[0].shape);
    second = filled(read[1].shape);
    result = Tensor::zeros(DType::f32, result_shape(geometry)).value();
    check();
  }
  RunArgs args() { return {first, second, result.mutable_view(), {}}; }

 private:
  static Tensor filled(const Shape& shape) {
    Tensor tensor = Tensor::zeros(DType::f32, shape).value();
    float value = 0;
    for (float& element : tensor.as<float>()) element = ++value;
    return tensor;
  }

  // Small integers: the definition's sums are exact, so the reference engine must give the same bits.
  void check() {
    demand(run(plan, args()).ok(), "the run failed");
    const Tensor got = result.clone().value();
    demand(run(make_plan(geometry, {.engine = "reference"}).value(), args()).ok(), "the reference failed");
    for (std::int64_t i = 0; i < got.size(); ++i) demand(got.at(i) == result.at(i), "wrong answer: " + plan.kernel);
  }
};

void time_run(benchmark::State& state, Direction direction) {
  Tiny tiny(direction);
  const RunArgs args = tiny.args();
  for (auto _ : state) benchmark::DoNotOptimize(run(tiny.plan, args).ok());
}

void time_remembered(benchmark::State& state, Direction direction) {
  Tiny tiny(direction);
  const RunArgs args = tiny.args();
  for (auto _ : state) benchmark::DoNotOptimize(run(make_plan(tiny.geometry).value(), args).ok());
}

void time_planned(benchmark::State& state, Direction direction) {
  Tiny tiny(direction);
  const RunArgs args = tiny.args();
  for (auto _ : state) {
    for (const Proposal& proposal : proposals(tiny.geometry)) {
      if (proposal.chosen) benchmark::DoNotOptimize(run(*proposal.plan, args).ok());
    }
  }
}

struct Kind {
  const char* title;
  void (*body)(benchmark::State&, Direction);
};
constexpr Kind kKinds[] = {{"ready/", time_run}, {"remembered/", time_remembered}, {"planned/", time_planned}};

}  // namespace

int main(int argc, char** argv) {
  benchmark::AddCustomContext("cpu", system_info().cpu);
  for (const Kind& kind : kKinds) {
    for (const Direction direction : {Direction::forward, Direction::input_grad, Direction::filter_grad}) {
      const auto body = [=](benchmark::State& state) { kind.body(state, direction); };
      benchmark::RegisterBenchmark((kind.title + std::string(name(direction))).c_str(), body)
          ->Repetitions(25)
          ->ReportAggregatesOnly()
          ->ComputeStatistics("least",
                              [](const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); });
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

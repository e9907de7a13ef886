// conv_gradients() against the three calls it stands for, one after the other and in turns, so that both see the same
// machine: least and median milliseconds, of processor time for one thread, which others on the machine disturb less,
// and of the wall clock for two. Bits are compared before anything is timed.
//   build/release/bench/together_bench [seconds a cell, 2 by default [part of the cells' names]]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "convgrad/convgrad.h"

namespace {

using namespace convgrad;

struct LayerRow {
  const char* name;
  const char* problem;  // without layout, element type and direction
};
constexpr LayerRow kLayers[] = {
    {"rn50_res2_3x3", "n16c64h56w56_k64r3s3_same"},          {"rn50_res2_1x1_expand", "n16c64h56w56_k256r1s1_valid"},
    {"mobilenet_dw3x3", "n16c128h56w56_k128r3s3_same_g128"}, {"mobilenet_1x1", "n16c32h112w112_k64r1s1_valid"},
    {"volume_3x3x3", "n2c32d16h28w28_k32t3r3s3_same"},       {"volume_dw3x3x3", "n4c108d16h28w28_k108t3r3s3_same_g108"},
};

void demand(bool fact, const std::string& what) {
  if (fact) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

// Values in [-1, 1) of 8 significant bits: exact in f32 and bf16, which is the upper half of an f32.
Tensor filled(DType dtype, const Shape& shape, unsigned seed) {
  Tensor tensor = Tensor::zeros(dtype, shape).value();
  auto* bytes = static_cast<char*>(tensor.data());
  const std::size_t size = size_of(dtype);
  for (std::int64_t i = 0; i < tensor.size(); ++i, bytes += size) {
    seed = seed * 1664525u + 1013904223u;
    const float value = static_cast<float>(static_cast<int>(seed >> 24) - 128) / 128;
    std::memcpy(bytes, reinterpret_cast<const char*>(&value) + sizeof(float) - size, size);
  }
  return tensor;
}

bool same(const Tensor& a, const Tensor& b) {
  return a.bytes() == b.bytes() && std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.bytes())) == 0;
}

ConvOptions options_of(const ConvProblem& problem, int threads) {
  ConvOptions options{.padding = problem.padding == PaddingKind::same ? Padding::same() : Padding::valid(),
                      .data_format = std::string(data_format(problem.layout, problem.rank)),
                      .policy = {.threads = threads}};
  for (const char axis : options.data_format)
    options.strides.push_back(axis == 'N' || axis == 'C' ? 1 : problem.stride[0]);
  return options;
}

class Layer {
 public:
  Layer(const std::string& problem, int threads)
      : geometry_(validate(parse_problem(problem + "_filter_grad").value()).value()),
        x_(filled(geometry_.dtype, in_shape(geometry_), 1)),
        filter_(filled(geometry_.dtype, filter_shape(geometry_), 2)),
        dy_(filled(geometry_.dtype, out_shape(geometry_), 3)),
        options_(options_of(parse_problem(problem + "_filter_grad").value(), threads)) {}

  ConvGradients together() const { return conv_gradients(x_, filter_, dy_, options_).value(); }

  ConvGradients apart() const {
    return {gradient(Direction::input_grad, filter_, dy_), gradient(Direction::filter_grad, x_, dy_),
            gradient(Direction::bias_grad, dy_, {})};
  }

  void check() const {
    const ConvGradients one = together(), three = apart();
    demand(same(one.input, three.input) && same(one.filter, three.filter) && same(one.bias, three.bias),
           "other bits: " + to_text(problem_of(geometry_)));
  }

 private:
  Tensor gradient(Direction direction, const TensorView& first, const TensorView& second) const {
    Geometry geometry = geometry_;
    geometry.direction = direction;
    return compute(problem_of(geometry), first, second, options_.policy).value();
  }

  Geometry geometry_;
  Tensor x_, filter_, dy_;
  ConvOptions options_;
};

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double middle(std::vector<double> values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

class Times {
 public:
  explicit Times(clockid_t clock) : clock_(clock) {}
  template <class Call>
  void time(const Call& call) {
    const double start = seconds_of(clock_);
    call();
    ms_.push_back(1e3 * (seconds_of(clock_) - start));
  }
  const std::vector<double>& all() const { return ms_; }
  double least() const { return *std::min_element(ms_.begin(), ms_.end()); }
  double median() const { return middle(ms_); }

 private:
  clockid_t clock_;
  std::vector<double> ms_;
};

// Of one call to the three timed beside it.
double middle_ratio(const Times& one, const Times& three) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < one.all().size(); ++i) ratios.push_back(one.all()[i] / three.all()[i]);
  return middle(ratios);
}

// A row of a table: times, and the change by one call: of the least time, and the median over neighbouring calls.
void time_cell(const LayerRow& row, const std::string& cell, int threads, double seconds) {
  const Layer layer(std::string(row.problem) + cell, threads);
  layer.check();
  const clockid_t clock = threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
  Times one(clock), three(clock);
  const double end = seconds_of(CLOCK_MONOTONIC) + seconds;
  do {
    three.time([&] { layer.apart(); });
    one.time([&] { layer.together(); });
    one.time([&] { layer.together(); });
    three.time([&] { layer.apart(); });
  } while (seconds_of(CLOCK_MONOTONIC) < end);
  std::printf("| %s%s | %d | %.2f, %.2f | %.2f, %.2f | %+.1f %%, %+.1f %% |\n", row.name, cell.c_str(), threads,
              three.least(), three.median(), one.least(), one.median(), 100 * (one.least() / three.least() - 1),
              100 * (middle_ratio(one, three) - 1));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 2;
  const std::string wanted = argc > 2 ? argv[2] : "";
  std::printf("%s; ms, least and median\n\n", system_info().cpu.c_str());
  std::printf("| layer | threads | three calls | one call | change |\n|---|---|---|---|---|\n");
  for (const LayerRow& row : kLayers) {
    for (const char* cell : {"_chlast_f32", "_chfirst_f32", "_chlast_bf16", "_chfirst_bf16"}) {
      if ((row.name + std::string(cell)).find(wanted) == std::string::npos) continue;
      for (const int threads : {1, 2}) time_cell(row, cell, threads, seconds);
    }
  }
  return 0;
}

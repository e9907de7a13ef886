// Times problems on a GPU, tensors in its memory, each from a cold L2: lines "NAME PROBLEM [MATH]" on standard input, a
// row of JSON for each on standard output, where f32 under tf32 math has the dtype "tf32". Up to 200 elements of every
// answer are compared with the definition on the CPU while the GPU goes on; a row is printed when that is done.
//
//   gpu_time [--flush-mb N] [--runs N] < cells.txt
//
// Exit status: 1 an answer is wrong or was not given, 2 there is no GPU to run on.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <future>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>

#include "cli/bench_verify.h"
#include "cli/operands.h"
#include "gpu_place.h"

namespace convgrad::bench {
namespace {

constexpr int kWarmUps = 3;
constexpr std::size_t kMostVerified = 12;  // at once, on the CPU

struct Asked {
  std::int64_t flush_mb = 512, runs = 15;
};

// Random numbers that repeat after a prime number of them: drawn in milliseconds, and out of step with every layer.
Result<Tensor> operand(const Geometry& g, const Shape& shape, int index) {
  constexpr std::int64_t kPeriod = 1'000'003;
  const Result<Tensor> drawn = cli::random_operand(g.dtype, {kPeriod}, 0, index);
  if (!drawn.ok()) return drawn;
  Result<Tensor> tensor = Tensor::zeros(g.dtype, shape);
  if (!tensor.ok()) return tensor;
  auto* const to = static_cast<std::byte*>(tensor->data());
  for (std::int64_t at = 0; at < tensor->bytes(); at += drawn->bytes())
    std::memcpy(to + at, drawn->data(), static_cast<std::size_t>(std::min(drawn->bytes(), tensor->bytes() - at)));
  return tensor;
}

struct Cell {
  std::string shape, problem;
  MathMode permitted;
  Plan plan;
  Tensor first, second, result;
  std::vector<double> us;  // sorted
};

std::int64_t bytes_moved(const Cell& cell) { return cell.first.bytes() + cell.second.bytes() + cell.result.bytes(); }

class Timer {
 public:
  static Result<Timer> make(const cuda::Device& device, const Asked& asked) {
    Result<cuda::Event> from = make_event(device), to = make_event(device);
    if (!from.ok() || !to.ok()) return from.ok() ? to.status() : from.status();
    Result<cuda::Buffer> flushed = allocate(device, static_cast<std::size_t>(asked.flush_mb) << 20, nullptr);
    if (!flushed.ok()) return flushed.status();
    return Timer(device, asked, std::move(*from), std::move(*to), std::move(*flushed));
  }

  // The first answer, to be verified, then the times.
  Status measure(Cell& cell) const {
    const Result<Placed> placed = Placed::make(device_, cell.plan, 0, nullptr);
    if (!placed.ok()) return placed.status();
    CONVGRAD_RETURN_IF_ERROR(placed->put({cell.first, cell.second}));
    CONVGRAD_RETURN_IF_ERROR(placed->poison());
    CONVGRAD_RETURN_IF_ERROR(placed->run());
    Result<Tensor> result = placed->result();
    if (!result.ok()) return result.status();
    cell.result = std::move(*result);
    for (int i = 0; i < kWarmUps; ++i) CONVGRAD_RETURN_IF_ERROR(placed->run());
    for (std::int64_t i = 0; i < asked_.runs; ++i) {
      const Result<double> us = once(*placed);
      if (!us.ok()) return us.status();
      cell.us.push_back(*us);
    }
    std::sort(cell.us.begin(), cell.us.end());
    return {};
  }

 private:
  Timer(const cuda::Device& device, const Asked& asked, cuda::Event from, cuda::Event to, cuda::Buffer flushed)
      : device_(device), asked_(asked), from_(std::move(from)), to_(std::move(to)), flushed_(std::move(flushed)) {}

  // The launches are in the stream before the write is done, so that only the GPU's time is between the events.
  Result<double> once(const Placed& placed) const {
    const auto bytes = static_cast<std::size_t>(asked_.flush_mb) << 20;
    CONVGRAD_RETURN_IF_ERROR(fill(device_, flushed_.get(), bytes, 0, nullptr));
    CONVGRAD_RETURN_IF_ERROR(record(device_, from_, nullptr));
    CONVGRAD_RETURN_IF_ERROR(placed.run());
    CONVGRAD_RETURN_IF_ERROR(record(device_, to_, nullptr));
    return microseconds_between(device_, from_, to_);
  }

  const cuda::Device& device_;
  Asked asked_;
  cuda::Event from_, to_;
  cuda::Buffer flushed_;
};

std::string_view op_word(Direction direction) {
  return direction == Direction::forward ? "forward" : direction == Direction::input_grad ? "input" : "filter";
}

void print_row(const Cell& cell, const cli::Verdict& verdict) {
  const Geometry& g = cell.plan.geometry;
  const double us = cell.us[cell.us.size() / 2];
  const std::string_view dtype = cell.permitted == MathMode::tf32 ? info(MathMode::tf32).name : info(g.dtype).id;
  std::printf(
      "{\"shape\": %s, \"problem\": %s, \"op\": \"%s\", \"dtype\": \"%s\", \"layout\": \"%s\", \"kernel\": %s, "
      "\"math\": %s, "
      "\"us\": %.2f, \"least_us\": %.2f, \"tflops\": %.2f, \"gbs\": %.1f, \"right\": %s, \"worst\": %.3g}\n",
      quoted(cell.shape).c_str(), quoted(cell.problem).c_str(), op_word(g.direction).data(), dtype.data(),
      g.layout == Layout::channels_last ? "last" : "first", quoted(cell.plan.kernel).c_str(),
      quoted(info(cell.plan.math).name).c_str(), us, cell.us.front(), nominal_flops(g) / us * 1e-6,
      static_cast<double>(bytes_moved(cell)) / us * 1e-3, verdict.right ? "true" : "false", verdict.worst);
  std::fflush(stdout);
}

void print_error(const std::string& shape, const std::string& problem, const Status& status) {
  std::printf("{\"shape\": %s, \"problem\": %s, \"error\": %s}\n", quoted(shape).c_str(), quoted(problem).c_str(),
              quoted(status.message()).c_str());
  std::fflush(stdout);
}

// Cells that are timed, and verified on other threads.
class Verification {
 public:
  void add(std::unique_ptr<Cell> cell) {
    if (pending_.size() == kMostVerified) take();
    const Cell& given = *cell;
    pending_.push_back({std::move(cell), std::async(std::launch::async, [&given] {
                          return cli::verify(
                              {given.plan.geometry, given.first, given.second, given.result, given.plan.math});
                        })});
  }
  bool finish() {
    while (!pending_.empty()) take();
    return right_;
  }

 private:
  struct Pending {
    std::unique_ptr<Cell> cell;
    std::future<cli::Verdict> verdict;
  };
  void take() {
    const cli::Verdict verdict = pending_.front().verdict.get();
    print_row(*pending_.front().cell, verdict);
    right_ = right_ && verdict.right;
    pending_.pop_front();
  }

  std::deque<Pending> pending_;
  bool right_ = true;
};

Result<std::unique_ptr<Cell>> cell_of(const std::string& shape, const std::string& text, const std::string& word) {
  const Result<ConvProblem> problem = parse_problem(text);
  if (!problem.ok()) return problem.status();
  const Result<MathMode> math = math_from_name(word);
  if (!math.ok()) return math.status();
  Result<Plan> plan = make_plan(*problem, {.math = *math, .place = {.memory = Memory::cuda}});
  if (!plan.ok()) return plan.status();
  const std::vector<Operand> read = operands(plan->geometry);
  Result<Tensor> first = operand(plan->geometry, read[0].shape, 0), second = operand(plan->geometry, read[1].shape, 1);
  if (!first.ok() || !second.ok()) return first.ok() ? second.status() : first.status();
  return std::make_unique<Cell>(
      Cell{shape, text, *math, std::move(*plan), std::move(*first), std::move(*second), {}, {}});
}

int time_all(const cuda::Device& device, const Asked& asked) {
  const Result<Timer> timer = Timer::make(device, asked);
  if (!timer.ok()) {
    std::fprintf(stderr, "gpu_time: %s\n", timer.status().message().c_str());
    return 2;
  }
  Verification verification;
  bool all_given = true;
  for (std::string line; std::getline(std::cin, line);) {
    std::string shape, problem, math;
    std::istringstream(line) >> shape >> problem >> math;
    Result<std::unique_ptr<Cell>> cell = cell_of(shape, problem, math.empty() ? "standard" : math);
    const Status done = cell.ok() ? timer->measure(**cell) : cell.status();
    if (done.ok())
      verification.add(std::move(*cell));
    else
      print_error(shape, problem, done);
    all_given = all_given && done.ok();
  }
  return verification.finish() && all_given ? 0 : 1;
}

std::optional<Asked> parsed(int argc, char** argv) {
  Asked asked;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    std::int64_t* const number = name == "--flush-mb" ? &asked.flush_mb : name == "--runs" ? &asked.runs : nullptr;
    if (number == nullptr) return std::nullopt;
    *number = std::max(1LL, std::atoll(argv[i + 1]));
  }
  return argc % 2 == 1 ? std::optional(asked) : std::nullopt;
}

int timed_here(const Asked& asked) {
  const Result<const cuda::Device*> device = cuda::Device::of(0);
  if (!device.ok()) {
    std::fprintf(stderr, "gpu_time: %s\n", device.status().message().c_str());
    return 2;
  }
  const cuda::InContext current(**device);
  return time_all(**device, asked);
}

}  // namespace
}  // namespace convgrad::bench

int main(int argc, char** argv) {
  const std::optional<convgrad::bench::Asked> asked = convgrad::bench::parsed(argc, argv);
  if (asked) return convgrad::bench::timed_here(*asked);
  std::fprintf(stderr, "usage: gpu_time [--flush-mb N] [--runs N] < lines of NAME PROBLEM [MATH]\n");
  return 2;
}

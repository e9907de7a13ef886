// convgrad bench: verifies and times the layers of a shapes file.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "cli/answer.h"
#include "cli/bench_cells.h"
#include "cli/bench_report.h"
#include "cli/bench_tensors.h"
#include "cli/bench_verify.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/peaks.h"
#include "convgrad/system.h"

namespace convgrad::cli {
namespace {

constexpr std::size_t kLeastCalls = 3;

// At least kLeastCalls, until the seconds are spent; in milliseconds, sorted.
Result<std::vector<double>> timed_calls(const Plan& plan, const RunArgs& args, const Policy& policy, double seconds) {
  std::vector<double> times;
  for (double spent = 0; times.size() < kLeastCalls || spent < seconds * 1e3; spent += times.back()) {
    const Result<double> taken = timed_call(plan, args, policy);
    if (!taken.ok()) return taken.status();
    times.push_back(*taken);
  }
  std::sort(times.begin(), times.end());
  return times;
}

Result<BenchRow> measure(const BenchCell& cell, const Policy& policy, double seconds) {
  const Plan& plan = cell.plan;
  Result<CellTensors> tensors = tensors_of(plan);
  if (!tensors.ok()) return tensors.status();
  // Every byte 0xFF is a NaN in each of the float types: an element that is not written shows.
  std::memset(tensors->result.data(), 0xFF, static_cast<std::size_t>(tensors->result.bytes()));
  const RunArgs args = tensors->args(plan);
  CONVGRAD_RETURN_IF_ERROR(run(plan, args, policy));
  BenchRow row{&cell, verify({plan.geometry, tensors->first, tensors->second, tensors->result, plan.math})};
  if (!row.verdict.right) return row;
  CONVGRAD_RETURN_IF_ERROR(run(plan, args, policy));  // warms what the check has cooled
  const Result<std::vector<double>> times = timed_calls(plan, args, policy, seconds);
  if (!times.ok()) return times.status();
  row.least_ms = times->front();
  row.median_ms = (*times)[times->size() / 2];
  return row;
}

Result<std::vector<BenchRow>> measure_all(const BenchWork& work, const BenchRun& run) {
  std::vector<BenchRow> rows;
  print_head();
  for (const BenchCell& cell : work.cells) {
    const Result<BenchRow> row = measure(cell, work.policy, work.seconds);
    if (!row.ok()) return row.status();
    print_row(*row, run);
    rows.push_back(*row);
  }
  print_means(rows, run);
  return rows;
}

BenchRun run_of(int asked_threads) {
  const int cores = system_info().cores;
  const int threads = asked_threads == 0 ? cores : asked_threads;
  const int busy = std::min(threads, cores);
  return {threads, busy, cpu_isa(), measure_peaks(busy)};
}

int verdict_of(const std::vector<BenchRow>& rows) {
  const auto wrong = std::count_if(rows.begin(), rows.end(), [](const BenchRow& row) { return !row.verdict.right; });
  if (wrong == 0) return kOk;
  fmt::print(stderr, "convgrad: {} of {} answers are wrong\n", wrong, rows.size());
  return kFailed;
}

}  // namespace

int bench_command(const BenchRequest& request) {
  const Result<BenchWork> work = bench_work(request.cells);
  if (!work.ok()) return refuse(work.status());
  const BenchRun run = run_of(work->policy.threads);
  const Result<std::vector<BenchRow>> rows = measure_all(*work, run);
  if (!rows.ok()) return refuse(rows.status());
  if (!request.json_file.empty()) write_parts(request.json_file, {report_json(*rows, run).dump(1), "\n"});
  return verdict_of(*rows);
}

}  // namespace convgrad::cli

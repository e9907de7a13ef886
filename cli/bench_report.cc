// GF/s count the multiply-adds of the definition, padding included: a kernel that skips padding may
// pass its peak.
#include "cli/bench_report.h"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <map>

#include "convgrad/system.h"

namespace convgrad::cli {
namespace {

double gflops(const BenchRow& row) { return nominal_flops(row.cell->plan.geometry) / row.least_ms * 1e-6; }

double peak_fraction(const BenchRow& row, const BenchRun& run) {
  return gflops(row) / (run.peaks.gflops(row.cell->plan.geometry.dtype) * run.cores);
}

Json machine_json(const BenchRun& run) {
  const SystemInfo system = system_info();
  return {{"cpu", system.cpu},
          {"cores", system.cores},
          {"compiler", system.compiler},
          {"version", system.version},
          {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
          {"f32_gflops_per_core", run.peaks.f32_gflops},
          {"f64_gflops_per_core", run.peaks.f64_gflops},
          {"copy_gbytes_per_second", run.peaks.copy_gbytes}};
}

// The times of a wrong answer are null.
Json row_json(const BenchRow& row, const BenchRun& run) {
  const Plan& plan = row.cell->plan;
  const auto timed = [&](double value) { return row.verdict.right ? Json(value) : Json(); };
  return {{"shape", row.cell->shape},
          {"dtype", info(plan.geometry.dtype).id},
          {"op", op_word(plan.geometry.direction)},
          {"layout", layout_word(plan.geometry.layout)},
          {"threads", run.threads},
          {"ms", timed(row.least_ms)},
          {"median_ms", timed(row.median_ms)},
          {"gflops", timed(gflops(row))},
          {"peak_fraction", timed(peak_fraction(row, run))},
          {"kernel", plan.kernel},
          {"isa", run.isa},
          {"engine", plan.engine},
          {"math", info(plan.math).name},
          {"verified", row.verdict.right},
          {"error_of_bound", row.verdict.worst},
          {"problem", row.cell->problem}};
}

}  // namespace

std::string kind_of(const Geometry& geometry) {
  return fmt::format("{:<4} {:<5} {:<7}", info(geometry.dtype).id, layout_word(geometry.layout),
                     op_word(geometry.direction));
}

void print_head() {
  fmt::print("{:<26} {:<18} {:>10} {:>10} {:>8} {:>7}  kernel\n", "shape", "cell", "ms", "median", "GF/s", "% peak");
}

void print_row(const BenchRow& row, const BenchRun& run) {
  fmt::print("{:<26} {} ", row.cell->shape, kind_of(row.cell->plan.geometry));
  if (row.verdict.right) {
    fmt::print("{:>10.3f} {:>10.3f} {:>8.1f} {:>7.1f}  {}\n", row.least_ms, row.median_ms, gflops(row),
               100 * peak_fraction(row, run), row.cell->plan.kernel);
  } else {
    fmt::print("WRONG: element {} is off by {:.3g} of its bound  {}\n", row.verdict.where, row.verdict.worst,
               row.cell->plan.kernel);
  }
  std::fflush(stdout);  // a run takes minutes and is watched
}

void print_means(const std::vector<BenchRow>& rows, const BenchRun& run) {
  struct Logs {
    double gflops = 0, fraction = 0, count = 0;
  };
  std::map<std::string, Logs> kinds;
  for (const BenchRow& row : rows) {
    if (!row.verdict.right) continue;
    Logs& logs = kinds[kind_of(row.cell->plan.geometry)];
    logs.gflops += std::log(gflops(row));
    logs.fraction += std::log(peak_fraction(row, run));
    logs.count += 1;
  }
  for (const auto& [kind, logs] : kinds) {
    fmt::print("{:<26} {} {:>10} {:>10} {:>8.1f} {:>7.1f}\n", "geometric mean", kind,
               fmt::format("{} cells", logs.count), "", std::exp(logs.gflops / logs.count),
               100 * std::exp(logs.fraction / logs.count));
  }
}

Json report_json(const std::vector<BenchRow>& rows, const BenchRun& run) {
  Json json = {{"machine", machine_json(run)}, {"rows", Json::array()}};
  for (const BenchRow& row : rows) json["rows"].push_back(row_json(row, run));
  return json;
}

}  // namespace convgrad::cli

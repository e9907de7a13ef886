// The rows of `convgrad bench`, as a table and as JSON.
#pragma once

#include <string>
#include <vector>

#include "cli/answer.h"
#include "cli/bench_cells.h"
#include "cli/bench_verify.h"
#include "cli/peaks.h"

namespace convgrad::cli {

// What holds for a whole run.
struct BenchRun {
  int threads = 1;
  int cores = 1;  // that so many threads can keep busy: the peaks are counted for them
  std::string isa;
  Peaks peaks;
};

struct BenchRow {
  const BenchCell* cell = nullptr;
  Verdict verdict;
  double least_ms = 0, median_ms = 0;  // 0 for a wrong answer, which is not timed
};

// "f32  last  filter"
std::string kind_of(const Geometry& geometry);

void print_head();
void print_row(const BenchRow& row, const BenchRun& run);
// Geometric means of the timed rows, for each op, dtype and layout.
void print_means(const std::vector<BenchRow>& rows, const BenchRun& run);

// {"machine": {...}, "rows": [{"shape", "dtype", "op", ...}, ...]}
Json report_json(const std::vector<BenchRow>& rows, const BenchRun& run);

}  // namespace convgrad::cli

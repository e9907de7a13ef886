// What `convgrad bench` or `convgrad tune` was asked to time: shapes x dtypes x layouts x ops, each with its plan.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "convgrad/plan.h"

namespace convgrad::cli {

struct BenchCell {
  std::string shape;
  std::string problem;  // as text
  Plan plan;
};

// "filter", "input" or "forward"; "last" or "first": the words of the command line and of the rows.
std::string_view op_word(Direction direction);
std::string_view layout_word(Layout layout);

struct BenchWork {
  Policy policy;
  double seconds;  // of each cell
  std::vector<BenchCell> cells;
};

// Refuses as a whole when one cell has no plan, before anything is timed.
Result<BenchWork> bench_work(const CellsRequest& request);

}  // namespace convgrad::cli

// What a cell's calls read and write, and one timed call.
#pragma once

#include <string>

#include "convgrad/plan.h"

namespace convgrad::cli {

// Allocated once for all calls of a cell.
struct CellTensors {
  Tensor first, second, result, workspace;

  // The workspace must have been made large enough.
  RunArgs args(const Plan& plan);
  // So that plans of up to so many bytes can run.
  Status grow_workspace(std::int64_t bytes);
};

// Random operands from a fixed seed, and the plan's workspace.
Result<CellTensors> tensors_of(const Plan& plan);

// In milliseconds.
Result<double> timed_call(const Plan& plan, const RunArgs& args, const Policy& policy);

// Makes the library run this instruction set; empty: the best. The library reads the name once, at its first use.
Status use_isa(const std::string& name);

}  // namespace convgrad::cli

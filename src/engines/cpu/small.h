// Problems of a few hundred multiply-adds, where setting tiles up would take longer than the sums: the plan
// lists every multiply-add, and a run is one loop over the list, for all directions. Sums are kept wider than
// the result (double; f64 with its rounding errors), term by term in the order of outputs, taps and channels.
#pragma once

#include <vector>

#include "convgrad/plan.h"
#include "engines/engine.h"

namespace convgrad::cpu {

struct SmallProgram {
  // Elements of the two operands.
  struct Term {
    std::int64_t first, second;
  };
  std::vector<Term> terms;           // result after result
  std::vector<std::int32_t> counts;  // terms of each result
};

bool is_small(const Geometry& geometry);
SmallProgram small_program(const Geometry& geometry);
void run_small(const SmallProgram& program, DType dtype, const EngineArgs& args);

}  // namespace convgrad::cpu

// Problems of a few hundred multiply-adds, where setting tiles up would take longer than the sums: one loop
// nest over the definition for all directions. Sums are kept wider than the result (double; f64 with its
// rounding errors), term by term in the order of outputs, taps and channels.
#pragma once

#include "convgrad/plan.h"
#include "engines/cpu/layer.h"
#include "engines/engine.h"

namespace convgrad::cpu {

struct SmallProgram {
  Layer layer;
  std::int64_t results;
};

bool is_small(const Geometry& geometry);
SmallProgram small_program(const Geometry& geometry);
std::int64_t workspace_bytes(const SmallProgram& program);
void run_small(const SmallProgram& program, const Geometry& geometry, const EngineArgs& args);

}  // namespace convgrad::cpu

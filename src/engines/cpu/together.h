// The gradients of one layer in one go, so that dy comes from memory once.
//
// A unit of the filter gradient walks a slice of dy region by region. After each region it runs the units of the
// input and bias gradients that read about the same part of dy, which then still lies in a cache. Which units run
// when changes no sum, so the bits are those of the programs run one after another.
#pragma once

#include "engines/cpu/filter_grad.h"
#include "engines/cpu/gather.h"

namespace convgrad::cpu {

template <class Work>
struct Bound {
  const Work& program;
  const Geometry& geometry;
  const EngineArgs& args;
};

struct Gradients {
  const Kernels& kernels;
  Bound<GatherProgram> input;
  Bound<FilterProgram> filter;
  Bound<FilterProgram> bias;
};

// Whether they gain: memory-bound layers whose dy is read where it lies (16-bit and channels-first tensors take their
// time to be brought into form), with units that keep the same workers busy side by side.
bool fit_together(const GatherProgram& input, const FilterProgram& filter);

// Only of programs that fit. The bias gradient runs by itself where it is too small to be cut.
Status run_gradients(const Gradients& gradients, const Policy& policy);

}  // namespace convgrad::cpu

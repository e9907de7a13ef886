// The filter gradient (filter_grad.h) of bf16, multiplied in pairs of pixels.
//
//   dw[t, ci, co] = sum over q  X[ci][q + distance(t)] * dY[q][co]
//
// q runs over the linear pixel space of a region (filter_pairs_program.h): X is a transposed copy of the
// region's inputs, which may be read from any pixel on, dY a copy of its outputs in pairs of pixels, with zeros
// in the gaps. A zero must not meet an infinity, and the instructions take denormals for zero: where a copy
// holds such a value, the whole call is computed in f32 instead.
#pragma once

#include "engines/cpu/filter_pairs_program.h"
#include "engines/cpu/kernels/kernels.h"
#include "engines/engine.h"

namespace convgrad::cpu {

std::int64_t workspace_bytes(const FilterPairsProgram& program, DType dtype);
Status run_filter_pairs(const FilterPairsProgram& program, const Kernels& kernels, const Geometry& geometry,
                        const EngineArgs& args, const Policy& policy);

}  // namespace convgrad::cpu

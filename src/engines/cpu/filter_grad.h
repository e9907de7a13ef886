// The filter and bias gradients.
//
//   dw[t, ci, co] = sum over p  x[p * stride - pad + t * dilation, ci] * dy[p, co]
//   db[co]        = sum over p  dy[p, co]
//
// A unit of work is a block of dw and a slice of the positions p. It walks its slice region by region,
// small enough for the second cache: brings x and dy there if kernels cannot read them in place, and adds
// every tap's products over the region into its block of dw. No padding is ever multiplied: each tap runs
// over just the positions whose inputs exist. A bias gradient's units are smaller: a block of 2048 terms each.
#pragma once

#include "engines/cpu/course.h"
#include "engines/cpu/filter_program.h"
#include "engines/cpu/kernels/kernels.h"
#include "engines/engine.h"

namespace convgrad::cpu {

std::int64_t workspace_bytes(const FilterProgram& program, DType dtype);
Status run_filter(const FilterProgram& program, const Kernels& kernels, const Geometry& geometry,
                  const EngineArgs& args, const Course& course);

}  // namespace convgrad::cpu

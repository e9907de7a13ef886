// Forward and the input gradient: every result position gathers from source positions.
//
//   forward      y[o, co] = sum over t, ci  x[o * stride - pad + t * dilation, ci] * w[t, ci, co]
//   input_grad   dx[i, ci] = sum over t, co  dy[o, co] * w[t, ci, co]     where o * stride - pad + t * dilation = i
//
// Result positions are sorted into stretches that share their taps (layer.h), so within a stretch all
// positions run the same list of taps: no padding is multiplied, a stride is just more stretches.
// A unit of work is a region of the result and a part of its channels.
#pragma once

#include "engines/cpu/course.h"
#include "engines/cpu/gather_program.h"
#include "engines/engine.h"

namespace convgrad::cpu {

std::int64_t workspace_bytes(const GatherProgram& program, DType dtype);
Status run_gather(const GatherProgram& program, const Kernels& kernels, const Geometry& geometry,
                  const EngineArgs& args, const Course& course);

}  // namespace convgrad::cpu

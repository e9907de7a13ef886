// Forward and the input gradient (gather.h) of bf16, multiplied in pairs: program.form is GatherForm::pairs.
//
// Source pixels are rows of bf16, read in place where a group's channels fill steps of 32, or copied with
// zeros that fill the last; the filter is brought into pair form. Zeros only ever meet zeros, so infinities
// and NaNs go where the definition puts them. Denormal factors and sums count as zero, as the instructions
// have it.
#pragma once

#include "engines/cpu/course.h"
#include "engines/cpu/gather_program.h"
#include "engines/engine.h"

namespace convgrad::cpu {

std::int64_t pairs_workspace_bytes(const GatherProgram& program);
Status run_gather_pairs(const GatherProgram& program, const Kernels& kernels, const Geometry& geometry,
                        const EngineArgs& args, const Course& course);

}  // namespace convgrad::cpu

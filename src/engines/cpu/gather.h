// Forward and the input gradient: every result position gathers from source positions.
//
//   forward      y[o, co] = sum over t, ci  x[o * stride - pad + t * dilation, ci] * w[t, ci, co]
//   input_grad   dx[i, ci] = sum over t, co  dy[o, co] * w[t, ci, co]     where o * stride - pad + t * dilation = i
//
// Result positions are sorted into stretches that share their taps (layer.h), so within a stretch all
// positions run the same list of taps: no padding is multiplied, a stride is just more stretches.
// A unit of work is a region of the result and a part of its channels.
#pragma once

#include "convgrad/plan.h"
#include "engines/cpu/field.h"
#include "engines/cpu/kernels/kernels.h"
#include "engines/engine.h"

namespace convgrad::cpu {

enum class GatherForm {
  dense,     // lanes are result channels of one group, the filter packed into panels
  dot,       // few result channels: lanes along the source channels
  lanewise,  // lanes are result channels of many groups, the source spread to match
};

struct GatherProgram {
  Layer layer;
  GatherForm form = GatherForm::dense;
  bool backward = false;  // input gradient
  Image source{}, result{};
  std::int64_t k = 0, n = 0;  // source and result channels of one group
  std::array<std::vector<Stretch>, kAxes> stretches;
  Position region{}, regions{};
  Position source_most{};              // largest box a region reads
  std::int64_t parts = 1;              // of the result channels (dense: of group x lane blocks)
  std::int64_t panel = 0;              // elements of the packed filter
  std::int64_t lanes = 0, widest = 0;  // of the instruction set: the packed filter's form
  std::int64_t workers = 1;
  bool several_blocks = false;  // sums longer than one block

  std::int64_t region_count() const { return regions[0] * regions[1] * regions[2] * regions[3]; }
  Box region_box(std::int64_t index) const;
};

GatherProgram gather_program(const Geometry& geometry, const Kernels& kernels, const Policy& policy);
std::int64_t workspace_bytes(const GatherProgram& program, DType dtype);
Status run_gather(const GatherProgram& program, const Kernels& kernels, const Geometry& geometry,
                  const EngineArgs& args, const Policy& policy);

}  // namespace convgrad::cpu

// The filter and bias gradients.
//
//   dw[t, ci, co] = sum over p  x[p * stride - pad + t * dilation, ci] * dy[p, co]
//   db[co]        = sum over p  dy[p, co]
//
// A unit of work is a block of dw and a slice of the positions p. It walks its slice region by region,
// small enough for the second cache: brings x and dy there if kernels cannot read them in place, and adds
// every tap's products over the region into its block of dw. No padding is ever multiplied: each tap runs
// over just the positions whose inputs exist.
#pragma once

#include <memory>

#include "convgrad/plan.h"
#include "engines/cpu/field.h"
#include "engines/cpu/kernels/kernels.h"
#include "engines/engine.h"

namespace convgrad::cpu {

// What one block of dw covers.
struct FilterBlock {
  std::int64_t group;
  std::int64_t tap_row, tap_rows;  // taps of all axes but the last
  std::int64_t ci, ci_count;
  std::int64_t co, co_count;
};

enum class FilterForm {
  dense,     // rows are input channels, lanes output channels of one group
  swapped,   // rows are output channels, lanes input channels: few output channels
  lanewise,  // lanes are output channels of many groups, x spread to match: depthwise, small groups
  ones,      // bias: x is 1
};

struct FilterProgram {
  Layer layer;
  FilterForm form = FilterForm::dense;
  Image x{}, dy{};
  bool merged = false;                                       // rows are (tap of the last axis, input channel)
  std::int64_t tap_rows_each = 1, ci_each = 1, co_each = 1;  // largest block
  Position blocks{};                                         // groups, tap rows, ci, co
  Position region{}, regions{};                              // extents, and how many an axis
  Position strip{};                                          // extents of a part of a region
  std::vector<Stretch> row_stretches;                        // of the last axis
  std::int64_t slices = 1;
  std::int64_t pitch = 0;  // of a block of dw, in elements
  std::int64_t workers = 1;

  std::int64_t block_count() const { return blocks[0] * blocks[1] * blocks[2] * blocks[3]; }
  std::int64_t region_count() const { return regions[0] * regions[1] * regions[2] * regions[3]; }
  std::int64_t block_rows() const;
  FilterBlock block(std::int64_t index) const;
  Box region_box(std::int64_t index) const;
};

FilterProgram filter_program(const Geometry& geometry, const Policy& policy);
std::int64_t workspace_bytes(const FilterProgram& program, DType dtype);
Status run_filter(const FilterProgram& program, const Kernels& kernels, const Geometry& geometry,
                  const EngineArgs& args, const Policy& policy);

}  // namespace convgrad::cpu

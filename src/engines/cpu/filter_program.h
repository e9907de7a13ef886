// How a filter or bias gradient is cut up, worked out once for a plan, from the problem alone (but for the
// number of workers).
#pragma once

#include "convgrad/plan.h"
#include "engines/cpu/field.h"

namespace convgrad::cpu {

constexpr std::int64_t kShortStretch = 8;  // the edges of a row

// What one block of dw covers.
struct FilterBlock {
  std::int64_t group;
  std::int64_t tap_row, tap_rows;  // taps of all axes but the last
  std::int64_t ci, ci_count;
  std::int64_t co, co_count;
};

enum class FilterForm {
  dense,     // rows are input channels, lanes output channels of one group
  swapped,   // rows are output channels, lanes input channels: few of the former, or fewer of the latter to transpose
  lanewise,  // lanes are output channels of many groups, x spread to match: depthwise, small groups
  ones,      // bias: x is 1
};

struct FilterProgram {
  Layer layer;
  FilterForm form = FilterForm::dense;
  Image x{}, dy{};
  bool merged = false;  // the index of input channels holds the taps of the last axis too
  bool planar = false;  // the operand whose channels are rows is read with its channels apart, as it lies
  std::int64_t tap_rows_each = 1, ci_each = 1, co_each = 1;  // largest block
  Position blocks{};                                         // groups, tap rows, ci, co
  Position region{}, regions{};                              // extents, and how many an axis
  Position strip{};                                          // extents of a part of a region
  std::vector<Stretch> row_stretches;                        // of the last axis
  std::int64_t slices = 1;
  // Bias gradients of some size have small sums, so every block of terms of every slice keeps its own and is a unit:
  // the regions at which blocks begin, and the end of the last. Empty: units are slices.
  std::vector<std::int64_t> pieces;
  std::int64_t pitch = 0;  // of a block of dw, in elements
  std::int64_t workers = 1;

  std::int64_t block_count() const { return blocks[0] * blocks[1] * blocks[2] * blocks[3]; }
  std::int64_t region_count() const { return regions[0] * regions[1] * regions[2] * regions[3]; }
  std::int64_t piece_count() const { return static_cast<std::int64_t>(pieces.size()) - 1; }
  std::int64_t unit_count() const { return block_count() * (pieces.empty() ? slices : piece_count()); }
  std::int64_t slice_begin(std::int64_t slice) const { return region_count() * slice / slices; }  // a region
  // Where a block of terms that begins at a region ends, at `end` at the latest.
  std::int64_t piece_end(std::int64_t region, std::int64_t end) const;
  std::int64_t block_rows() const;
  FilterBlock block(std::int64_t index) const;
  Box region_box(std::int64_t index) const;
};

FilterProgram filter_program(const Geometry& geometry, const Policy& policy);

// The steps of cutting, for filter_pairs_program.cc too. Blocks of dw have multiples of `step` channels; slices are
// worth `unit_terms` multiply-adds each.
void choose_blocks(FilterProgram& p, std::int64_t step);
void choose_slices(FilterProgram& p, const Geometry& geometry, double unit_terms);
std::int64_t worker_count(const FilterProgram& p, const Policy& policy);

// Input channels of a block.
struct Channels {
  std::int64_t first, count;
};

// The other axes' taps together are the tap rows; the taps of one.
std::int64_t last_axis_taps(const Layer& layer);
Position taps_of(const Layer& layer, std::int64_t tap_row);
// Extents.
Position outputs_of(const Layer& layer);
// Taps of the last axis that lie beside each other in the lanes.
std::int64_t lane_taps(const FilterProgram& p);
// Inputs that a region of outputs reads.
Box input_box(const Layer& layer, const Box& region);
// The most positions an input box can have.
std::int64_t largest_input_box(const FilterProgram& p);
std::int64_t largest_region(const FilterProgram& p);
// Whether x is expanded to the lanes of dy, whether kernels read copies, and whether those are planar.
bool spreads_channels(const FilterProgram& p);
bool stages_x(const FilterProgram& p);
bool stages_dy(const FilterProgram& p);
bool planar_x(const FilterProgram& p);
bool planar_dy(const FilterProgram& p);
// From one staged position to the next, in elements: an odd number of cache lines where there are several.
std::int64_t staged_pitch(std::int64_t channels);
std::int64_t x_pitch(const FilterProgram& p, std::int64_t channels);
// Of a block, and the most of any.
Channels input_channels(const FilterProgram& p, const FilterBlock& b);
std::int64_t most_input_channels(const FilterProgram& p);

}  // namespace convgrad::cpu

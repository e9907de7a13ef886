// How forward or an input gradient is cut up, worked out once for a plan.
#pragma once

#include <memory>

#include "convgrad/plan.h"
#include "engines/cpu/field.h"
#include "engines/cpu/kernels/kernels.h"
#include "engines/cpu/kernels/pairs/pairs.h"
#include "engines/cpu/sweep.h"

namespace convgrad::cpu {

// Of channels-first layers: shorter stretches of a row are transposed like all others.
constexpr std::int64_t kLongRow = 16;

enum class GatherForm {
  dense,     // lanes are result channels of one group, the filter packed into panels
  dot,       // few result channels: lanes along the source channels
  lanewise,  // lanes are result channels of many groups, the source spread to match
  pairs,     // dense by dot-product instructions: rows of bf16 source channels, the filter in pair form
};

struct GatherProgram {
  Layer layer;
  GatherForm form = GatherForm::dense;
  bool backward = false;  // input gradient
  bool planar = false;    // channels first: long rows have their positions in the lanes, and channels in the rows
  Image source{}, result{};
  std::int64_t k = 0, n = 0;  // source and result channels of one group
  std::int64_t terms = 1;     // dense: of neighbouring source channels in one step, a lane each (kernels/tile)
  std::array<std::vector<Stretch>, kAxes> stretches;
  Position region{}, regions{};
  Position source_most{};              // largest box a region reads
  std::int64_t parts = 1;              // of the result channels (dense: of group x lane blocks)
  std::int64_t panel = 0;              // elements of the packed filter
  std::int64_t lanes = 0, widest = 0;  // of the instruction set: the packed filter's form
  std::int64_t workers = 1;
  bool several_blocks = false;  // sums longer than one block
  const PairKernels* pairs = nullptr;
  bool patches = false;                        // pairs: the source brought into patches (patches.h)
  std::shared_ptr<const GatherProgram> exact;  // runs instead where the filter must not meet the zeros of padding

  Position results() const;  // extents
  std::int64_t region_count() const { return regions[0] * regions[1] * regions[2] * regions[3]; }
  Box region_box(std::int64_t index) const;
};

// By `pairs` where there are some and the layer gains by them.
GatherProgram gather_program(const Geometry& geometry, const Kernels& kernels, const Policy& policy,
                             const PairKernels* pairs = nullptr);

// Result channels of a part, and the source channels they need.
struct Part {
  std::int64_t first_item, end_item;
  std::int64_t channel, channels;
  std::int64_t source, sources;
};

std::int64_t all_results(const GatherProgram& p);
// Steps of a tap's sum.
std::int64_t tap_steps(const GatherProgram& p);
LaneBlocks lane_blocks(const GatherProgram& p);
bool spreads_channels(const GatherProgram& p);
// Pairs: terms that are neighbours, source channels of a group or a whole patch, with the zeros that fill the last
// step; how many such runs a sum has; and whether kernels read a copy.
std::int64_t filled_k(const GatherProgram& p);
std::int64_t pair_taps(const GatherProgram& p);
bool stages_pairs(const GatherProgram& p);
// Source positions that a region of the result reads: a box around all, and of some taps of one axis. Between those
// of far taps lie gaps that nobody reads.
Box source_box(const GatherProgram& p, const Box& region);
std::pair<std::int64_t, std::int64_t> source_range(const GatherProgram& p, const Box& region, std::size_t axis,
                                                   std::int64_t first_tap, std::int64_t last_tap);
bool leaves_gaps(const GatherProgram& p, const Box& region, std::size_t axis);
// Extents of what is transposed at a time: of planar programs the short stretches alone.
Position staged_region(const GatherProgram& p);
Position staged_source(const GatherProgram& p);
// The filter as it lies serves lanewise tiles where its columns are the lanes.
bool filter_in_place(const GatherProgram& p);
std::int64_t volume(const Position& e);
Part part_of(const GatherProgram& p, std::int64_t index);
std::int64_t most(const GatherProgram& p, std::int64_t Part::* field);
// Of a staged result: rows on cache lines, or, narrower than one, without gaps, to be converted as one row.
std::int64_t result_pitch(std::int64_t channels);

}  // namespace convgrad::cpu

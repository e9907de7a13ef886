#include "engines/cpu/filter_program.h"

#include <algorithm>

#include "engines/cpu/runs.h"
#include "engines/spread.h"

namespace convgrad::cpu {
namespace {

// None of these may depend on the machine: they decide the order of the sums.
constexpr std::int64_t kBlockElements = 144 * 1024;  // of dw in one unit
constexpr std::int64_t kRegionElements = 48 * 1024;  // of x or dy in one region
constexpr std::int64_t kMostRegion = 512, kLeastRegion = 64;
constexpr std::int64_t kStagedElements = 256 * 1024;  // of x in one region, with all that taps reach
constexpr std::int64_t kStrip = 96;  // positions whose dy lanes stay in the first cache for all rows of dw
constexpr std::int64_t kUnits = 16;  // wanted, for the threads to share
constexpr std::int64_t kSliceBytes = std::int64_t{4} << 20;  // for the partial sums of all slices
constexpr std::int64_t kPieceSums = std::int64_t{1} << 20;   // elements, for those of a bias gradient's blocks of terms
constexpr double kUnitTerms = 2e6;                           // multiply-adds that are worth a slice
// A kernel strides over whole pixels. Wider ones fall on few sets of the first cache and are staged, at a
// distance that does not.
constexpr std::int64_t kDirectPitchBytes = 256;
constexpr std::int64_t kCrowdedPitchBytes = 1024;  // planes this far apart do so too
constexpr double kPieceTerms = 2.5e5;              // of a bias gradient that are worth a thread: 50 microseconds
constexpr std::int64_t kManyLanes = 48;            // three vectors of f32

// Sums over all positions, with x = 1: axes without taps, so that they merge into one row.
Layer ones_layer(const Geometry& g) {
  Geometry plain = g;
  plain.in = g.out;
  plain.filter = plain.stride = plain.dilation = {1, 1, 1};
  plain.pad_before = plain.pad_after = {};
  plain.c_in = plain.groups = 1;
  return layer_of(plain);
}

// Whether the taps of the last axis and the input channels can be one index: neighbours in memory.
bool taps_join(const Layer& l) {
  const Axis& row = l.axes[3];
  return l.groups == 1 && row.taps > 1 && row.dilation == 1 && l.c_in < kManyLanes &&
         (l.in_channel_step != 1 || row.in_step == l.c_in);
}

FilterForm form_of(const Geometry& g, const Layer& layer) {
  if (g.direction == Direction::bias_grad) return FilterForm::ones;
  if (layer.groups > 1 && (layer.c_in == 1 || (layer.c_in <= 16 && layer.c_out < 16))) return FilterForm::lanewise;
  // A tile of three or four vectors does twice the work a load of a tile of one: lanes go where there are more.
  const bool few_out = layer.c_out < kManyLanes;
  if (few_out && layer.c_in >= std::max(kManyLanes, 2 * layer.c_out)) return FilterForm::swapped;
  if (few_out && taps_join(layer) && layer.axes[3].taps * layer.c_in >= std::max(kManyLanes, 2 * layer.c_out))
    return FilterForm::swapped;
  if (layer.c_out < 16 && layer.c_in >= 2 * layer.c_out) return FilterForm::swapped;
  // Channels first, the operand in the lanes is transposed: better the one with fewer channels, unless it has more
  // positions.
  const Axis& row = layer.axes[3];
  if (row.in_step == 1 && row.stride == 1 && layer.in_channel_step != 1 && layer.c_in >= kManyLanes &&
      layer.c_in < layer.c_out) {
    return FilterForm::swapped;
  }
  return FilterForm::dense;
}

bool reads_in_place(const Image& image, bool wants_pitch, bool planar) {
  const auto element = static_cast<std::int64_t>(size_of(image.dtype));
  if (planar) return !converts(image) && (wants_pitch || image.channel_step * element % kCrowdedPitchBytes != 0);
  return direct(image) && (wants_pitch || image.step[3] * element <= kDirectPitchBytes);
}

void choose_regions(FilterProgram& p) {
  const std::int64_t planes = p.form == FilterForm::lanewise ? p.layer.c_in : 1;
  const std::int64_t channels =
      std::max<std::int64_t>(p.form == FilterForm::lanewise ? 1 : p.ci_each, p.co_each * planes);
  const Position all = outputs_of(p.layer);
  std::int64_t positions = std::clamp(kRegionElements / channels, kLeastRegion, kMostRegion);
  p.region = part_of_at_most(all, positions);
  const bool copies_x = stages_x(p) || spreads_channels(p);
  const std::int64_t copied = std::max(most_input_channels(p), spreads_channels(p) ? p.co_each * planes : 0);
  while (copies_x && largest_input_box(p) * copied > kStagedElements && positions > 1)
    p.region = part_of_at_most(all, positions /= 2);
  p.strip = part_of_at_most(p.region, kStrip);
  for (std::size_t a = 0; a < kAxes; ++a) p.regions[a] = ceil_div(all[a], p.region[a]);
}

// Inputs that a range of outputs reads on an axis.
void input_range(const Axis& axis, std::int64_t begin, std::int64_t end, std::int64_t& in_begin, std::int64_t& in_end) {
  in_begin = std::clamp<std::int64_t>(begin * axis.stride - axis.pad, 0, axis.in);
  in_end = std::clamp<std::int64_t>((end - 1) * axis.stride - axis.pad + (axis.taps - 1) * axis.dilation + 1, in_begin,
                                    axis.in);
}

}  // namespace

// Halves the wider side until a block fits; then fewer rows of taps.
void choose_blocks(FilterProgram& p, std::int64_t step) {
  const Layer& l = p.layer;
  const std::int64_t tap_rows = l.taps / last_axis_taps(l);
  p.tap_rows_each = tap_rows;
  p.ci_each = l.c_in;
  p.co_each = p.form == FilterForm::lanewise
                  ? std::min<std::int64_t>(l.all_out(), 64 * std::max<std::int64_t>(1, 4 / l.c_in))
                  : l.c_out;
  const auto elements = [&] { return p.tap_rows_each * last_axis_taps(l) * p.ci_each * round_up(p.co_each, kAlign); };
  while (elements() > kBlockElements) {
    std::int64_t& wider = p.ci_each > p.co_each && !p.merged ? p.ci_each : p.co_each;
    if (wider > 64 && p.form != FilterForm::lanewise) {
      wider = round_up(ceil_div(wider, 2), step);
    } else if (p.tap_rows_each > 1) {
      p.tap_rows_each = ceil_div(p.tap_rows_each, 2);
    } else {
      break;
    }
  }
  const std::int64_t co = p.form == FilterForm::lanewise ? l.all_out() : l.c_out;
  p.blocks = {p.form == FilterForm::lanewise ? 1 : l.groups, ceil_div(tap_rows, p.tap_rows_each),
              ceil_div(l.c_in, p.ci_each), ceil_div(co, p.co_each)};
  p.pitch = round_up(p.form == FilterForm::swapped ? lane_taps(p) * p.ci_each : p.co_each, kAlign);
}

void choose_slices(FilterProgram& p, const Geometry& g, double unit_terms) {
  const auto bytes = static_cast<std::int64_t>(g.dtype == DType::f64 ? 8 : 4);
  const std::int64_t all = 2 * bytes * p.block_count() * p.block_rows() * p.pitch;
  const auto worth = static_cast<std::int64_t>(std::min(1e6, nominal_flops(g) / 2 / unit_terms));
  p.slices =
      std::max<std::int64_t>(1, std::min({ceil_div(kUnits, p.block_count()),
                                          kSliceBytes / std::max<std::int64_t>(1, all), worth, p.region_count()}));
}

std::int64_t worker_count(const FilterProgram& p, const Policy& policy) {
  const std::int64_t units = p.unit_count();
  if (units == 1) return 1;
  return std::min<std::int64_t>(units, threads_of(policy));
}

void choose_pieces(FilterProgram& p, const Geometry& g) {
  if (p.form != FilterForm::ones || nominal_flops(g) < 2 * kPieceTerms) return;
  for (std::int64_t slice = 0; slice < p.slices; ++slice) {
    const std::int64_t end = p.slice_begin(slice + 1);
    for (std::int64_t region = p.slice_begin(slice); region < end; region = p.piece_end(region, end))
      p.pieces.push_back(region);
  }
  p.pieces.push_back(p.region_count());
  const std::int64_t sums = p.unit_count() * p.block_rows() * p.pitch;
  if (p.piece_count() == 1 || sums > kPieceSums) p.pieces.clear();
}

Position outputs_of(const Layer& l) { return {l.axes[0].out, l.axes[1].out, l.axes[2].out, l.axes[3].out}; }

Position taps_of(const Layer& layer, std::int64_t tap_row) {
  Position taps{};
  for (std::size_t a = 3; a-- > 0;) {
    taps[a] = tap_row % layer.axes[a].taps;
    tap_row /= layer.axes[a].taps;
  }
  return taps;
}

std::int64_t last_axis_taps(const Layer& layer) { return layer.axes[3].taps; }

std::int64_t lane_taps(const FilterProgram& p) {
  return p.form == FilterForm::swapped && p.merged ? last_axis_taps(p.layer) : 1;
}

Box input_box(const Layer& layer, const Box& region) {
  Box box;
  for (std::size_t a = 0; a < kAxes; ++a)
    input_range(layer.axes[a], region.begin[a], region.end[a], box.begin[a], box.end[a]);
  return box;
}

std::int64_t largest_input_box(const FilterProgram& p) {
  std::int64_t count = 1;
  for (std::size_t a = 0; a < kAxes; ++a) {
    const Axis& axis = p.layer.axes[a];
    count *= std::min(axis.in, (p.region[a] - 1) * axis.stride + (axis.taps - 1) * axis.dilation + 1);
  }
  return count;
}

std::int64_t largest_region(const FilterProgram& p) { return p.region[0] * p.region[1] * p.region[2] * p.region[3]; }

bool spreads_channels(const FilterProgram& p) {
  return p.form == FilterForm::lanewise && (p.layer.c_in > 1 || p.layer.c_out > 1);
}

bool stages_x(const FilterProgram& p) {
  return p.form != FilterForm::ones && !reads_in_place(p.x, p.merged || p.form == FilterForm::lanewise, planar_x(p));
}

bool stages_dy(const FilterProgram& p) { return !reads_in_place(p.dy, p.form == FilterForm::lanewise, planar_dy(p)); }

bool planar_x(const FilterProgram& p) { return p.planar && p.form == FilterForm::dense; }
bool planar_dy(const FilterProgram& p) { return p.planar && p.form == FilterForm::swapped; }

std::int64_t staged_pitch(std::int64_t channels) {
  const std::int64_t rounded = round_up(channels, kAlign);
  return rounded >= 8 * kAlign && rounded / kAlign % 2 == 0 ? rounded + kAlign : rounded;
}

std::int64_t x_pitch(const FilterProgram& p, std::int64_t channels) {
  return p.merged ? channels : staged_pitch(channels);
}

Channels input_channels(const FilterProgram& p, const FilterBlock& b) {
  const Layer& l = p.layer;
  if (p.form != FilterForm::lanewise) return {b.group * l.c_in + b.ci, b.ci_count};
  const std::int64_t first = b.co / l.c_out, last = (b.co + b.co_count - 1) / l.c_out;
  return {first * l.c_in, (last - first + 1) * l.c_in};
}

std::int64_t most_input_channels(const FilterProgram& p) {
  const Layer& l = p.layer;
  return p.form == FilterForm::lanewise ? std::min(l.groups, p.co_each / l.c_out + 2) * l.c_in : p.ci_each;
}

std::int64_t FilterProgram::block_rows() const {
  return tap_rows_each * last_axis_taps(layer) / lane_taps(*this) * (form == FilterForm::swapped ? co_each : ci_each);
}

std::int64_t FilterProgram::piece_end(std::int64_t region, std::int64_t end) const {
  std::int64_t steps = region_box(region++).positions();
  while (region < end && (steps += region_box(region).positions()) <= kBlockSteps) ++region;
  return region;
}

FilterBlock FilterProgram::block(std::int64_t index) const {
  const auto take = [&index](std::int64_t count) {
    const std::int64_t digit = index % count;
    index /= count;
    return digit;
  };
  FilterBlock b{};
  const std::int64_t all_co = form == FilterForm::lanewise ? layer.all_out() : layer.c_out;
  b.co = take(blocks[3]) * co_each;
  b.ci = take(blocks[2]) * ci_each;
  b.tap_row = take(blocks[1]) * tap_rows_each;
  b.group = index;
  b.co_count = std::min(co_each, all_co - b.co);
  b.ci_count = std::min(ci_each, layer.c_in - b.ci);
  b.tap_rows = std::min(tap_rows_each, layer.taps / last_axis_taps(layer) - b.tap_row);
  return b;
}

Box FilterProgram::region_box(std::int64_t index) const { return part_number(index, {{}, outputs_of(layer)}, region); }

FilterProgram filter_program(const Geometry& g, const Policy& policy) {
  FilterProgram p;
  p.layer = g.direction == Direction::bias_grad ? ones_layer(g) : layer_of(g);
  const Layer& l = p.layer;
  p.form = form_of(g, l);
  p.x = input_image(l, g.dtype);
  p.dy = output_image(l, g.dtype);
  const Axis& row = l.axes[3];
  const bool narrow = l.c_in <= (p.form == FilterForm::swapped ? kManyLanes - 1 : 16);
  p.merged = (p.form == FilterForm::dense || p.form == FilterForm::swapped) && taps_join(l) && narrow;
  const Image& rows = p.form == FilterForm::swapped ? p.dy : p.x;
  p.planar = (p.form == FilterForm::dense || p.form == FilterForm::swapped) && rows.channel_step != 1;
  p.row_stretches = forward_stretches(row);
  choose_blocks(p, kAlign);
  choose_regions(p);
  choose_slices(p, g, kUnitTerms);
  choose_pieces(p, g);
  p.workers = worker_count(p, policy);
  return p;
}

}  // namespace convgrad::cpu

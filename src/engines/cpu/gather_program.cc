#include "engines/cpu/gather_program.h"

#include <algorithm>
#include <tuple>

#include "engines/cpu/pairs_rule.h"
#include "engines/cpu/patches.h"
#include "engines/cpu/runs.h"
#include "engines/spread.h"

namespace convgrad::cpu {
namespace {

// Every region streams the packed filter once, so regions are large; where they are staged, the copies of
// source and result bound them.
constexpr std::int64_t kStagedElements = std::int64_t{128} * 1024;
constexpr std::int64_t kPairElements = std::int64_t{256} * 1024;  // a copy of bf16 takes half of that
constexpr std::int64_t kMostRegion = 1024, kLeastRegion = 256;
constexpr std::int64_t kStagedTerms = 2048;  // multiply-adds an element that are worth staging it once more
constexpr std::int64_t kLeastPart = 256;     // result channels
constexpr std::int64_t kUnits = 16;          // wanted, for the threads to share
constexpr double kUnitTerms = 2e6;           // multiply-adds that are worth a unit
constexpr double kPairUnitTerms = 8e6;       // in pairs
// Few result channels waste lanes; lanes along the sum waste the last of their steps and a final addition,
// which takes about as long as 16 terms a result.
constexpr std::int64_t kFewResults = 8;
constexpr std::int64_t kLongEnough = 16;

// Of an average sum: the taps of a strided input gradient share the work of one position.
std::int64_t terms_of(const GatherProgram& p) {
  std::int64_t terms = p.layer.taps * p.k;
  for (const Axis& axis : p.layer.axes) terms /= p.backward ? axis.stride : 1;
  return terms;
}

// A policy's, with the numbers above in place of 0.
Knobs knobs_of(const Policy& policy) {
  Knobs knobs = policy.knobs.value_or(Knobs{});
  const auto or_own = [](std::int64_t& knob, std::int64_t own) { knob = knob == 0 ? own : knob; };
  or_own(knobs.staged_elements, kStagedElements);
  or_own(knobs.most_region, kMostRegion);
  or_own(knobs.units, kUnits);
  or_own(knobs.few_results, kFewResults);
  return knobs;
}

bool small_groups(const GatherProgram& p) { return p.layer.groups > 1 && (p.k == 1 || (p.k <= 16 && p.n < 16)); }

bool few_results(const GatherProgram& p, const Knobs& knobs) {
  return p.n <= knobs.few_results && terms_of(p) >= kLongEnough * p.n;
}

// So many that more than two of four vectors of 16 lanes (8 in f64) are full.
std::int64_t terms_of_step(const GatherProgram& p) {
  const bool wide = p.source.dtype == DType::f64;
  if (p.source.dtype == DType::i32 || p.n <= 8) return 1;
  if (!wide && p.n <= 16 && p.k % 4 == 0) return 4;
  return p.n > (wide ? 8 : 16) && p.n <= (wide ? 16 : 32) && p.k % 2 == 0 ? 2 : 1;
}

// Cycles a position, roughly. A multiply-add takes 1/32; 1.8 times that in tiles of one vector, which loads bound, and
// 1.45 times where lanes start anywhere in a row, as those of all taps but one do. An element that is transposed
// takes 2.5, one that is copied as it lies 0.5.
bool pays_planar(const GatherProgram& p, const Knobs& knobs) {
  std::int64_t longest = 0;
  for (const Stretch& stretch : p.stretches[3]) longest = std::max(longest, stretch.count);
  if (longest < kLongRow || few_results(p, knobs)) return false;
  const std::int64_t vectors = ceil_div(longest, kAlign);  // of any instruction set's: this decides an order of sums
  const double filled = static_cast<double>(longest) / static_cast<double>(vectors * kAlign);
  const auto k = static_cast<double>(p.k), n = static_cast<double>(p.n);
  const double work = static_cast<double>(p.layer.taps) * k * n / 32;
  const double in_rows = work / filled * (vectors == 1 ? 1.8 : 1) * (p.layer.taps > 1 ? 1.45 : 1) + 0.5 * k;
  return in_rows < work * (p.n <= kAlign && terms_of_step(p) == 1 ? 1.8 : 1) + 2.5 * (k + n);
}

bool wants_planar(const GatherProgram& p, const Knobs& knobs) {
  const auto in_rows = [](const Image& image) { return image.channel_step != 1 && image.step[3] == 1; };
  if (p.pairs != nullptr || small_groups(p) || !in_rows(p.source) || !in_rows(p.result)) return false;
  for (const Axis& axis : p.layer.axes) {
    if (axis.stride != 1) return false;
  }
  return pays_planar(p, knobs);
}

double useful_share(std::int64_t count, std::int64_t whole) {
  return static_cast<double>(count) / static_cast<double>(round_up(count, whole));
}

// Dense sums of bf16 with enough channels.
bool fits_pairs(const GatherProgram& p, const PairKernels& pairs) {
  if (p.source.dtype != DType::bf16 || std::min(p.k, p.n) < kLeastPairChannels || p.layer.patch_planes > 0)
    return false;
  return pairs_pay(pairs, useful_share(p.k, kPairStep) * useful_share(p.n, kPairLanes));
}

// Those of few source channels, whose steps of one tap would be half empty.
bool fits_patches(const GatherProgram& p, const PairKernels& pairs) {
  if (p.source.dtype != DType::bf16 || p.layer.groups > 1 || p.layer.taps == 1 || p.layer.patch_planes > 0)
    return false;
  for (const Axis& axis : p.layer.axes) {
    if (p.backward && axis.stride != 1) return false;
  }
  if (!has_lines(p) || p.k > kPairStep / 2 || p.n < kLeastPairChannels || patch_terms(p) < kPairStep / 2) return false;
  return pairs_pay(pairs, useful_share(patch_terms(p), kPairStep) * useful_share(p.n, kPairLanes));
}

GatherForm form_of(const GatherProgram& p, const Knobs& knobs) {
  if (p.pairs != nullptr) return GatherForm::pairs;
  if (small_groups(p)) return GatherForm::lanewise;
  return few_results(p, knobs) ? GatherForm::dot : GatherForm::dense;
}

std::int64_t all_source(const GatherProgram& p) { return p.layer.groups * p.k; }
std::int64_t extent(const GatherProgram& p, std::size_t axis) {
  return p.backward ? p.layer.axes[axis].in : p.layer.axes[axis].out;
}

// What parts of the channels are made of: lane blocks of each group, or whole groups.
std::int64_t item_count(const GatherProgram& p) {
  switch (p.form) {
    case GatherForm::dense:
    case GatherForm::pairs: return p.layer.groups * lane_blocks(p).count;
    case GatherForm::dot: return p.layer.groups;
    case GatherForm::lanewise: return lane_blocks(p).count;
  }
  return 1;
}

// Whether kernels read a copy of the source.
bool stages_source(const GatherProgram& p) { return spreads_channels(p) || !direct(p.source); }

// Of a region: as many as fit, where source or result are copies.
std::int64_t most_positions(const GatherProgram& p, std::int64_t channels, const Knobs& knobs) {
  if (p.form != GatherForm::pairs && !stages_source(p)) return knobs.most_region;
  const std::int64_t elements = p.form == GatherForm::pairs ? kPairElements : knobs.staged_elements;
  return std::min(std::max(elements / channels, kLeastRegion), knobs.most_region);
}

// Lanewise parts need no channels but their own, so staged ones are as narrow as a lane block.
bool narrow_parts(const GatherProgram& p) { return p.form == GatherForm::lanewise && stages_source(p); }

// Result channels of a part, wanted: where they are many more than the source's, in parts, so that regions can be
// large. Each part stages the source anew, which is worth it with enough multiply-adds an element.
std::int64_t part_results(const GatherProgram& p) {
  if (p.form != GatherForm::dense || p.layer.groups > 1 || !stages_source(p)) return all_results(p);
  std::int64_t taps = p.layer.taps;  // that read an element
  for (const Axis& axis : p.layer.axes) taps /= p.backward ? 1 : axis.stride;
  const std::int64_t enough = ceil_div(kStagedTerms, std::max<std::int64_t>(1, taps));
  return std::min(all_results(p), std::max({all_source(p), kLeastPart, enough}));
}

void choose_regions(GatherProgram& p, const Knobs& knobs) {
  const std::int64_t sources = p.patches ? filled_k(p) : all_source(p);
  const std::int64_t channels =
      narrow_parts(p) ? p.k * std::min(all_results(p), p.lanes * p.widest) : std::max(sources, part_results(p));
  p.region = part_of_at_most(p.results(), most_positions(p, channels, knobs));
  for (std::size_t a = 0; a < kAxes; ++a) {
    const Axis& axis = p.layer.axes[a];
    const std::int64_t reach = (axis.taps - 1) * axis.dilation;
    p.regions[a] = ceil_div(extent(p, a), p.region[a]);
    p.source_most[a] = p.backward ? std::min(axis.out, (p.region[a] - 1 + reach) / axis.stride + 1)
                                  : std::min(axis.in, (p.region[a] - 1) * axis.stride + reach + 1);
  }
}

void choose_parts(GatherProgram& p, const Geometry& g, const Policy& policy) {
  const double unit = p.form == GatherForm::pairs ? kPairUnitTerms : kUnitTerms;
  const auto worth = static_cast<std::int64_t>(std::min(1e6, 1 + nominal_flops(g) / 2 / unit));
  // Every part stages the source anew, so there are no more than threads can share.
  const std::int64_t threads = threads_of(policy), shares = threads == 1 ? 1 : 4 * threads;
  const std::int64_t wanted = std::min({knobs_of(policy).units, worth, stages_source(p) ? shares : worth});
  const std::int64_t few = std::max(ceil_div(wanted, std::max<std::int64_t>(1, p.region_count())),
                                    ceil_div(all_results(p), part_results(p)));
  p.parts = narrow_parts(p) ? item_count(p) : std::clamp<std::int64_t>(few, 1, item_count(p));
  const std::int64_t units = std::min(worth, p.region_count() * p.parts);
  p.workers = units <= 1 ? 1 : std::min(units, threads);
}

std::int64_t panel_elements(const GatherProgram& p) {
  const std::int64_t rows = p.layer.taps * p.k;
  switch (p.form) {
    case GatherForm::dense: return p.layer.groups * rows / p.terms * round_up(p.n * p.terms, p.lanes);
    case GatherForm::dot: return p.layer.groups * rows * p.n;
    case GatherForm::lanewise: return filter_in_place(p) ? 0 : rows * all_results(p);
    case GatherForm::pairs: return p.layer.groups * pair_taps(p) * filled_k(p) * round_up(p.n, p.lanes);
  }
  return 0;
}

}  // namespace

std::int64_t all_results(const GatherProgram& p) { return p.layer.groups * p.n; }

std::int64_t tap_steps(const GatherProgram& p) { return p.k / p.terms; }

LaneBlocks lane_blocks(const GatherProgram& p) {
  return {p.form == GatherForm::lanewise ? all_results(p) : p.n * p.terms, p.lanes, p.widest};
}

bool spreads_channels(const GatherProgram& p) { return p.form == GatherForm::lanewise && (p.k > 1 || p.n > 1); }

std::int64_t filled_k(const GatherProgram& p) { return round_up(p.patches ? patch_terms(p) : p.k, kPairStep); }

std::int64_t pair_taps(const GatherProgram& p) { return p.patches ? 1 : p.layer.taps; }

bool stages_pairs(const GatherProgram& p) { return p.source.channel_step != 1 || p.k != filled_k(p); }

Box source_box(const GatherProgram& p, const Box& region) {
  Box box;
  for (std::size_t a = 0; a < kAxes; ++a)
    std::tie(box.begin[a], box.end[a]) = source_range(p, region, a, 0, p.layer.axes[a].taps - 1);
  return box;
}

bool leaves_gaps(const GatherProgram& p, const Box& region, std::size_t a) {
  const Axis& axis = p.layer.axes[a];
  return axis.taps > 1 && axis.dilation > region.extent(a) * (p.backward ? 1 : axis.stride);
}

std::pair<std::int64_t, std::int64_t> source_range(const GatherProgram& p, const Box& region, std::size_t a,
                                                   std::int64_t first_tap, std::int64_t last_tap) {
  const Axis& axis = p.layer.axes[a];
  const std::int64_t low = first_tap * axis.dilation, high = last_tap * axis.dilation;
  const std::int64_t begin = p.backward ? ceil_div(region.begin[a] + axis.pad - high, axis.stride)
                                        : region.begin[a] * axis.stride - axis.pad + low;
  const std::int64_t end = p.backward ? ceil_div(region.end[a] + axis.pad - low, axis.stride)
                                      : (region.end[a] - 1) * axis.stride - axis.pad + high + 1;
  const std::int64_t all = p.backward ? axis.out : axis.in, first = std::clamp<std::int64_t>(begin, 0, all);
  return {first, std::clamp<std::int64_t>(end, first, all)};
}

Position staged_region(const GatherProgram& p) {
  Position region = p.region;
  if (p.planar) region[3] = std::min(region[3], kLongRow - 1);
  return region;
}

Position staged_source(const GatherProgram& p) {
  Position source = p.source_most;
  const Axis& row = p.layer.axes[3];
  if (p.planar) source[3] = std::min(source[3], kLongRow - 1 + (row.taps - 1) * row.dilation);
  return source;
}

bool filter_in_place(const GatherProgram& p) {
  return p.form == GatherForm::lanewise && !converts(p.source) && (!p.backward || !spreads_channels(p));
}

std::int64_t volume(const Position& e) { return e[0] * e[1] * e[2] * e[3]; }

Part part_of(const GatherProgram& p, std::int64_t index) {
  const std::int64_t items = item_count(p);
  Part part{items * index / p.parts, items * (index + 1) / p.parts, 0, 0, 0, 0};
  const LaneBlocks blocks = lane_blocks(p);
  const auto first_channel = [&](std::int64_t item) {
    if (p.form == GatherForm::dot) return item * p.n;
    if (p.form == GatherForm::lanewise) return item == blocks.count ? all_results(p) : blocks.begin(item);
    return item / blocks.count * p.n + (item % blocks.count == 0 ? 0 : blocks.begin(item % blocks.count) / p.terms);
  };
  part.channel = first_channel(part.first_item);
  part.channels = first_channel(part.end_item) - part.channel;
  const std::int64_t group = part.channel / p.n, last = (part.channel + part.channels - 1) / p.n;
  part.source = group * p.k;
  part.sources = (last - group + 1) * p.k;
  return part;
}

std::int64_t most(const GatherProgram& p, std::int64_t Part::* field) {
  std::int64_t largest = 0;
  for (std::int64_t i = 0; i < p.parts; ++i) largest = std::max(largest, part_of(p, i).*field);
  return largest;
}

std::int64_t result_pitch(std::int64_t channels) { return channels < kAlign ? channels : round_up(channels, kAlign); }

Position GatherProgram::results() const {
  return {extent(*this, 0), extent(*this, 1), extent(*this, 2), extent(*this, 3)};
}

Box GatherProgram::region_box(std::int64_t index) const { return part_number(index, {{}, results()}, region); }

GatherProgram gather_program(const Geometry& g, const Kernels& kernels, const Policy& policy,
                             const PairKernels* pairs) {
  GatherProgram p;
  p.layer = layer_of(g);
  const Layer& l = p.layer;
  p.backward = g.direction == Direction::input_grad;
  const Image in = input_image(l, g.dtype), out = output_image(l, g.dtype);
  p.source = p.backward ? out : in;
  p.result = p.backward ? in : out;
  p.k = p.backward ? l.c_out : l.c_in;
  p.n = p.backward ? l.c_in : l.c_out;
  visit(g.dtype, [&]<class S>(S) {
    const auto& table = kernels.of<typename DTypeOf<S>::Accumulator>().tile;
    p.lanes = table.lanes;
    p.widest = widest(table);
  });
  for (std::size_t a = 0; a < kAxes; ++a)
    p.stretches[a] = p.backward ? backward_stretches(l.axes[a]) : forward_stretches(l.axes[a]);
  p.patches = pairs != nullptr && fits_patches(p, *pairs);
  if (p.patches || (pairs != nullptr && fits_pairs(p, *pairs))) {
    p.pairs = pairs;
    p.lanes = kPairLanes;
    p.widest = pairs->widest;
  }
  const Knobs knobs = knobs_of(policy);
  p.planar = wants_planar(p, knobs);
  p.form = form_of(p, knobs);
  if (p.form == GatherForm::dense && !p.planar) p.terms = terms_of_step(p);
  const std::int64_t steps = p.form == GatherForm::pairs ? pair_taps(p) * filled_k(p) : l.taps * tap_steps(p);
  p.several_blocks = p.form != GatherForm::dot && steps > kBlockSteps;
  choose_regions(p, knobs);
  choose_parts(p, g, policy);
  p.panel = panel_elements(p);
  if (needs_exact(p)) p.exact = std::make_shared<GatherProgram>(gather_program(g, kernels, policy));
  return p;
}

}  // namespace convgrad::cpu

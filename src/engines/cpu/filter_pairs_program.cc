#include "engines/cpu/filter_pairs_program.h"

#include <algorithm>
#include <numeric>

#include "engines/cpu/pairs_rule.h"
#include "engines/spread.h"

namespace convgrad::cpu {
namespace {

// None of these may depend on the machine: they decide the order of the sums.
constexpr std::int64_t kBlockStep = 32;  // channels: whole tiles
// Sums of 32 terms are added to memory once a region, which wants long ones; the copies of x want short ones.
constexpr std::int64_t kMostRegion = 1024, kLeastRegion = 256;
constexpr std::int64_t kRegionElements = std::int64_t{512} * 1024;  // of x, all phases: 1 MB
constexpr std::int64_t kMostCopied = 32;  // pixels of x brought in for one of dy: taps 100 regions apart do not pay
constexpr double kUnitTerms = 8e6;        // multiply-adds that are worth a slice

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return -ceil_div(-a, b); }

// An odd number of cache lines: rows of channels spread over the sets of the first cache.
std::int64_t spread_row(std::int64_t elements) {
  const std::int64_t lines = ceil_div(elements, kPairStep);
  return (lines % 2 == 0 ? lines + 1 : lines) * kPairStep;
}

// Positions by which the taps of an axis lie apart.
std::int64_t range_of(const Axis& axis) { return shift_of(axis, axis.taps - 1) - shift_of(axis, 0); }

// Completes a space from the outputs and the pitch of each axis.
void lay_out(LinearSpace& space, const Layer& layer, const Position& outs, const Position& pitch) {
  std::int64_t step = 1, last = 0, reach = 0;
  space.outs = outs;
  for (std::size_t a = kAxes; a-- > 0;) {
    space.step[a] = step;
    last += (outs[a] - 1) * step;
    reach += range_of(layer.axes[a]) * step;
    step *= a == 3 ? round_up(pitch[a], 2) : pitch[a];  // rows of dy start with a pair
  }
  space.terms = round_up(last + 1, kPairStep);
  space.row = spread_row(reach + space.terms);
}

// No region needs more than inputs for all of its outputs and taps.
LinearSpace largest_space(const FilterProgram& p) {
  LinearSpace space;
  Position pitch;
  for (std::size_t a = 0; a < kAxes; ++a) pitch[a] = p.region[a] + range_of(p.layer.axes[a]);
  lay_out(space, p.layer, p.region, pitch);
  return space;
}

void choose_regions(FilterPairsProgram& program) {
  FilterProgram& p = program.cut;
  const Position all = outputs_of(p.layer);
  p.region = part_of_at_most(
      all, std::clamp(kRegionElements / (program.phase_count() * p.ci_each), kLeastRegion, kMostRegion));
  for (std::size_t a = 0; a < kAxes; ++a) p.regions[a] = ceil_div(all[a], p.region[a]);
  const LinearSpace most = largest_space(p);
  program.most_row = most.row;
  program.most_terms = most.terms;
}

// The share of multiplications that are not by a zero that fills a gap or a vector, in the middle of the image.
double useful_share(const FilterProgram& p) {
  const Box region = p.region_box(p.region_count() / 2);
  const LinearSpace space = linear_space(p.layer, region);
  const auto terms = static_cast<double>(region.positions()) / static_cast<double>(space.terms);
  return terms * static_cast<double>(p.layer.c_out) / static_cast<double>(round_up(p.layer.c_out, kPairLanes));
}

}  // namespace

std::int64_t shift_of(const Axis& axis, std::int64_t tap) {
  return floor_div(tap * axis.dilation - axis.pad, axis.stride);
}

std::int64_t phase_of(const Axis& axis, std::int64_t tap) {
  return tap * axis.dilation - axis.pad - shift_of(axis, tap) * axis.stride;
}

std::int64_t phase_cycle(const Axis& axis) { return axis.stride / std::gcd(axis.stride, axis.dilation); }

LinearSpace linear_space(const Layer& layer, const Box& region) {
  LinearSpace space;
  Position outs, pitch, beyond;
  for (std::size_t a = 0; a < kAxes; ++a) {
    const Axis& axis = layer.axes[a];
    const std::int64_t all = ceil_div(axis.in, axis.stride);
    const std::int64_t begin = region.begin[a] + shift_of(axis, 0);
    const std::int64_t end = region.end[a] + shift_of(axis, axis.taps - 1);
    space.first_in[a] = std::clamp<std::int64_t>(begin, 0, all);
    const std::int64_t end_in = std::clamp<std::int64_t>(end, space.first_in[a], all);
    space.ins[a] = end_in - space.first_in[a];
    beyond[a] = std::max<std::int64_t>(0, space.first_in[a] - begin);
    outs[a] = region.extent(a);
    pitch[a] = std::max(outs[a], space.ins[a] + std::max({beyond[a], end - end_in, std::int64_t{0}}));
  }
  lay_out(space, layer, outs, pitch);
  for (std::size_t a = 0; a < kAxes; ++a) space.before += beyond[a] * space.step[a];
  return space;
}

std::optional<FilterPairsProgram> filter_pairs_program(const Geometry& g, const Policy& policy,
                                                       const PairKernels& pairs) {
  FilterPairsProgram program;
  FilterProgram& p = program.cut;
  p.layer = layer_of(g);
  if (g.direction != Direction::filter_grad || g.dtype != DType::bf16 ||
      std::min(p.layer.c_in, p.layer.c_out) < kLeastPairChannels) {
    return std::nullopt;
  }
  p.x = input_image(p.layer, g.dtype);
  p.dy = output_image(p.layer, g.dtype);
  program.pairs = &pairs;
  for (std::size_t a = 0; a < kAxes; ++a)
    program.phases[a] = std::min(p.layer.axes[a].taps, phase_cycle(p.layer.axes[a]));
  choose_blocks(p, kBlockStep);
  choose_regions(program);
  if (program.most_row > kMostCopied * program.most_terms) return std::nullopt;
  if (!pairs_pay(pairs, useful_share(p))) return std::nullopt;
  choose_slices(p, g, kUnitTerms);
  p.workers = worker_count(p, policy);
  program.exact = filter_program(g, policy);
  return program;
}

}  // namespace convgrad::cpu

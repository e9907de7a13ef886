#include "engines/cpu/patches.h"

#include <algorithm>
#include <cstring>

#include "engines/cpu/gather_classes.h"

namespace convgrad::cpu {
namespace {

bool channels_together(const GatherProgram& p) { return p.source.channel_step == 1; }
std::int64_t tap_rows(const GatherProgram& p) { return p.layer.taps / p.layer.axes[3].taps; }
std::int64_t line_terms(const GatherProgram& p) { return p.layer.axes[3].taps * (channels_together(p) ? p.k : 1); }
std::int64_t source_extent(const GatherProgram& p, std::size_t axis) {
  return p.backward ? p.layer.axes[axis].out : p.layer.axes[axis].in;
}

// The source of result position o for the tap with the lowest one; the others follow, `dilation` apart.
std::int64_t first_source(const GatherProgram& p, std::size_t a, std::int64_t o) {
  const Axis& axis = p.layer.axes[a];
  return p.backward ? o + axis.pad - (axis.taps - 1) * axis.dilation : o * axis.stride - axis.pad;
}

// Calls visit(t) for the taps of the axes before the last, in the order of the lines; t[3] is 0.
template <class Visit>
void each_tap_row(const GatherProgram& p, const Visit& visit) {
  Position t{};
  for (t[0] = 0; t[0] < p.layer.axes[0].taps; ++t[0])
    for (t[1] = 0; t[1] < p.layer.axes[1].taps; ++t[1])
      for (t[2] = 0; t[2] < p.layer.axes[2].taps; ++t[2]) visit(t);
}

// Where lines of a row of result positions start in the source, at index 0 of the last axis; null outside of it.
void find_lines(const GatherProgram& p, const Position& row, const PatchArgs& args) {
  const std::int64_t channels = channels_together(p) ? 1 : p.k;
  const std::uint16_t** line = args.lines;
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    each_tap_row(p, [&](const Position& t) {
      std::int64_t at = p.source.origin + channel * p.source.channel_step;
      bool inside = true;
      for (std::size_t a = 0; a < 3; ++a) {
        const std::int64_t index = first_source(p, a, row[a]) + t[a] * p.layer.axes[a].dilation;
        inside = inside && index >= 0 && index < source_extent(p, a);
        at += index * p.source.step[a];
      }
      *line++ = inside ? args.source + at : nullptr;
    });
  }
}

// Behind the last element that some patch could have.
const std::uint16_t* source_end(const GatherProgram& p, const std::uint16_t* source) {
  std::int64_t last = p.source.origin + (p.k - 1) * p.source.channel_step;
  for (std::size_t a = 0; a < kAxes; ++a) last += (source_extent(p, a) - 1) * p.source.step[a];
  return source + last + 1;
}

// Eight at a time, up to seven elements too many on both sides, where the source has so many.
void copy_line(const std::uint16_t* from, const std::uint16_t* end, std::uint16_t* to, std::int64_t count) {
  if (end - from < round_up(count, kPatchSlack)) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(*to));
    return;
  }
  for (std::int64_t i = 0; i < count; i += kPatchSlack) std::memcpy(to + i, from + i, kPatchSlack * sizeof(*to));
}

void clear(std::uint16_t* from, std::int64_t count) {
  std::memset(from, 0, static_cast<std::size_t>(count) * sizeof(*from));
}

// Taps [begin, end) of the last axis have a source, the first of them at `source`.
struct Reach {
  std::int64_t begin, end, source;
};
Reach reach_of(const GatherProgram& p, std::int64_t o) {
  const std::int64_t first = first_source(p, 3, o), taps = p.layer.axes[3].taps;
  const std::int64_t begin = std::clamp<std::int64_t>(-first, 0, taps);
  return {begin, std::clamp<std::int64_t>(source_extent(p, 3) - first, begin, taps), first + begin};
}

// What all patches of a layer share.
struct Pattern {
  std::int64_t lines, terms, unit;  // of a line: terms, and those of one tap
  std::int64_t tail;                // zeros behind the last line
  const std::uint16_t* end;         // of the source
};

// One patch. Lines are written in their order, so what one writes too many the next one overwrites.
void bring_patch(const Pattern& pattern, const Reach& reach, const std::uint16_t* const* lines, std::uint16_t* to) {
  const std::int64_t before = reach.begin * pattern.unit, count = (reach.end - reach.begin) * pattern.unit;
  const std::int64_t offset = reach.source * pattern.unit, after = pattern.terms - before - count;
  for (std::int64_t i = 0; i < pattern.lines; ++i, to += pattern.terms) {
    if (lines[i] == nullptr || count == 0) {
      clear(to, pattern.terms);
      continue;
    }
    if (before > 0) clear(to, before);
    copy_line(lines[i] + offset, pattern.end, to + before, count);
    if (after > 0) clear(to + before + count, after);
  }
  clear(to, pattern.tail);
}

}  // namespace

bool has_lines(const GatherProgram& p) {
  constexpr std::int64_t kMostPlanes = 4, kLeastTerms = 5;
  const Axis& row = p.layer.axes[3];
  if (row.taps > 1 && row.dilation != 1) return false;
  if (channels_together(p)) return p.source.step[3] == p.k;
  return p.source.step[3] == 1 && p.k <= kMostPlanes && row.taps >= kLeastTerms;
}

std::int64_t line_count(const GatherProgram& p) { return tap_rows(p) * (channels_together(p) ? 1 : p.k); }
std::int64_t patch_terms(const GatherProgram& p) { return p.layer.taps * p.k; }

bool needs_exact(const GatherProgram& p) {
  if (!p.patches) return false;
  for (std::size_t a = 0; a < kAxes; ++a) {
    const Axis& axis = p.layer.axes[a];
    const std::int64_t last = (p.backward ? axis.in : axis.out) - 1, reach = (axis.taps - 1) * axis.dilation;
    if (first_source(p, a, 0) < 0 || first_source(p, a, last) + reach >= source_extent(p, a)) return true;
  }
  return false;
}

void bring_patches(const GatherProgram& p, const Box& region, const PatchArgs& args) {
  std::uint16_t* to = args.to;
  const std::int64_t filled = filled_k(p), terms = line_terms(p);
  const Pattern pattern{line_count(p), terms, terms / p.layer.axes[3].taps, filled - patch_terms(p),
                        source_end(p, args.source)};
  for_each_row(region, [&](const Position& row) {
    find_lines(p, row, args);
    for (std::int64_t o = region.begin[3]; o < region.end[3]; ++o, to += filled)
      bring_patch(pattern, reach_of(p, o), args.lines, to);
  });
}

void pack_patch_filter(const GatherProgram& p, const std::uint16_t* filter, std::uint16_t* panel, std::int64_t vector) {
  clear(panel, round_up(p.n, kPairLanes) / kPairLanes * vector);
  for (std::int64_t k = 0; k < p.k; ++k) {
    for (std::int64_t place = 0; place < p.layer.taps; ++place) {
      // Backward the lowest source is the last tap's, on every axis.
      const std::int64_t tap = p.backward ? p.layer.taps - 1 - place : place;
      const TapMatrix from = tap_matrix(p, tap, 0);
      const std::int64_t term = channels_together(p) ? place * p.k + k : k * p.layer.taps + place;
      const std::uint16_t* row = filter + from.first + k * from.k_step;
      std::uint16_t* to = panel + term / 2 * 2 * kPairLanes + term % 2;
      for (std::int64_t n = 0; n < p.n; ++n) to[n / kPairLanes * vector + n % kPairLanes * 2] = row[n * from.n_step];
    }
  }
}

}  // namespace convgrad::cpu

// The classes of a gathered result: positions that share their taps, so that all of them run one list.
#pragma once

#include <array>
#include <cstring>
#include <numeric>

#include "engines/cpu/gather_program.h"

namespace convgrad::cpu {

// The stretches that a set of result positions shares, one an axis.
using Class = std::array<Stretch, kAxes>;

inline bool has_taps(const Class& c) { return c[0].taps * c[1].taps * c[2].taps * c[3].taps > 0; }
inline std::int64_t positions(const Class& c) { return c[0].count * c[1].count * c[2].count * c[3].count; }

// Calls visit(c) for every class that has positions in the region.
template <class Visit>
void each_class(const GatherProgram& p, const Box& region, const Visit& visit, std::size_t axis = 0, Class c = {}) {
  if (axis == kAxes) {
    visit(c);
    return;
  }
  for (const Stretch& whole : p.stretches[axis]) {
    c[axis] = clipped(whole, region.begin[axis], region.end[axis]);
    if (c[axis].count > 0) each_class(p, region, visit, axis + 1, c);
  }
}

// Calls visit(m, row) for every row of positions along `axis`.
template <class Visit>
void each_row(const Class& c, std::size_t axis, const Visit& visit) {
  Position m{}, end{};
  for (std::size_t a = 0; a < kAxes; ++a) end[a] = a == axis ? 1 : c[a].count;
  std::int64_t row = 0;
  for (m[0] = 0; m[0] < end[0]; ++m[0])
    for (m[1] = 0; m[1] < end[1]; ++m[1])
      for (m[2] = 0; m[2] < end[2]; ++m[2])
        for (m[3] = 0; m[3] < end[3]; ++m[3]) visit(m, row++);
}

// Where position (m0, m1, m2, m3) of a class lies in the source and in the result.
template <class T>
std::int64_t source_at(const Field<T>& source, const Class& c, const Position& m) {
  Position p;
  for (std::size_t a = 0; a < kAxes; ++a) p[a] = c[a].source + m[a] * c[a].source_step;
  return source.offset(p);
}
template <class T>
std::int64_t result_at(const Field<T>& result, const Class& c, const Position& m) {
  Position p;
  for (std::size_t a = 0; a < kAxes; ++a) p[a] = c[a].first + m[a] * c[a].step;
  return result.offset(p);
}

inline std::size_t longest(const Class& c) {
  std::size_t best = 3;
  for (std::size_t a = 3; a-- > 0;) best = c[a].count > c[best].count ? a : best;
  return best;
}

// Calls visit(j) for taps (j0, j1, j2, j3) of the class, those of the last axis fastest.
template <class Visit>
void each_tap(const Class& c, const Visit& visit) {
  Position j{};
  for (j[0] = 0; j[0] < c[0].taps; ++j[0])
    for (j[1] = 0; j[1] < c[1].taps; ++j[1])
      for (j[2] = 0; j[2] < c[2].taps; ++j[2])
        for (j[3] = 0; j[3] < c[3].taps; ++j[3]) visit(j);
}

// A tap's source relative to a position's, and its number.
template <class T>
std::int64_t tap_source(const Field<T>& source, const Class& c, const Position& j) {
  std::int64_t at = 0;
  for (std::size_t a = 0; a < kAxes; ++a) at += j[a] * c[a].source_per_tap * source.step[a];
  return at;
}
inline std::int64_t tap_number(const GatherProgram& p, const Class& c, const Position& j) {
  std::int64_t tap = 0;
  for (std::size_t a = 0; a < kAxes; ++a) tap += (c[a].tap + j[a] * c[a].tap_step) * p.layer.axes[a].tap_step;
  return tap;
}

// Where a tap stands in the panels: the taps of the last axis that a stretch can share side by side, in the
// order in which their sources rise, so that they are one run. Backward these are every `apart`-th tap, the
// last first.
inline std::int64_t panel_tap(const GatherProgram& p, std::int64_t tap) {
  if (!p.backward) return tap;
  const Axis& axis = p.layer.axes[3];
  const std::int64_t apart = axis.stride / std::gcd(axis.stride, axis.dilation);
  const std::int64_t row = tap / axis.taps * axis.taps, t = tap % axis.taps, phase = t % apart;
  std::int64_t before = 0;
  for (std::int64_t other = 0; other < std::min(phase, axis.taps); ++other)
    before += ceil_div(axis.taps - other, apart);
  return row + before + ceil_div(axis.taps - phase, apart) - 1 - t / apart;
}

// One tap of one group of the filter, as a matrix of source x result channels.
struct TapMatrix {
  std::int64_t first;           // element of the filter
  std::int64_t k_step, n_step;  // elements
};
inline TapMatrix tap_matrix(const GatherProgram& p, std::int64_t tap, std::int64_t group) {
  const Layer& l = p.layer;
  const std::int64_t first = tap * l.c_in * l.all_out() + group * l.c_out;
  return p.backward ? TapMatrix{first, 1, l.all_out()} : TapMatrix{first, l.all_out(), 1};
}

// Positions that no tap reaches.
template <class T>
void clear_class(const Field<T>& result, const Class& c, std::int64_t channels) {
  const bool whole_rows = c[3].step * result.step[3] == channels;
  const std::int64_t count = whole_rows ? c[3].count * channels : channels;
  each_row(c, whole_rows ? 3 : kAxes, [&](const Position& m, std::int64_t) {
    std::memset(static_cast<void*>(result.base + result_at(result, c, m)), 0,
                static_cast<std::size_t>(count) * sizeof(T));
  });
}

// Sums of several blocks, one class at a time: each block of terms is added up in c, then folded; hi is the
// sum once settled.
template <class T>
struct BlockSums {
  T *c, *hi, *lo;

  void clear(std::int64_t elements) const {
    std::memset(static_cast<void*>(hi), 0, static_cast<std::size_t>(elements) * sizeof(T));
    std::memset(static_cast<void*>(lo), 0, static_cast<std::size_t>(elements) * sizeof(T));
  }
  void fold(const SumTable<T>& sums, std::int64_t elements) const {
    sums.fold({hi, lo, c, nullptr, nullptr, elements});
  }
  void settle(const SumTable<T>& sums, std::int64_t elements) const {
    sums.settle({hi, lo, nullptr, nullptr, hi, elements});
  }
};

// The first `lanes` of every row of `from`, `pitch` elements apart, to the positions of the class from `to` on.
template <class T>
struct ClassRows {
  const T* from;
  std::int64_t pitch, lanes;
};
template <class T>
void write_class(const Field<T>& result, const Class& c, std::size_t axis, const ClassRows<T>& rows, T* to) {
  const std::int64_t count = c[axis].count, step = c[axis].step * result.step[axis];
  each_row(c, axis, [&](const Position& m, std::int64_t row) {
    T* first = to + result_at(result, c, m);
    const T* from = rows.from + row * count * rows.pitch;
    for (std::int64_t i = 0; i < count; ++i) {
      std::memcpy(static_cast<void*>(first + i * step), from + i * rows.pitch,
                  static_cast<std::size_t>(rows.lanes) * sizeof(T));
    }
  });
}

}  // namespace convgrad::cpu

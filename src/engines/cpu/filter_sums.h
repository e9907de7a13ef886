// The sums of a filter gradient on their way to dw: blocks of dw, slice by slice, joined in order.
#pragma once

#include <cstring>

#include "engines/cpu/carve.h"
#include "engines/cpu/filter_program.h"
#include "engines/cpu/kernels/kernels.h"

namespace convgrad::cpu {

template <class T>
void clear(T* memory, std::int64_t count) {
  std::memset(static_cast<void*>(memory), 0, static_cast<std::size_t>(count) * sizeof(T));
}

// Of one block of dw.
inline std::int64_t block_elements(const FilterProgram& p) { return p.block_rows() * p.pitch; }

// Whether units leave sums behind that are joined when all have run.
inline bool keeps_sums(const FilterProgram& p) { return p.slices > 1 || !p.pieces.empty(); }

// hi + lo stands for the sums of a block.
template <class T>
struct FilterSums {
  T *hi, *lo;
};

// Those of all slices and pieces, where there are several.
template <class T>
struct SliceSums {
  FilterSums<T> all;
  T* pieces;
  std::int64_t block;

  SliceSums(Carver& carve, const FilterProgram& p) : block(block_elements(p)) {
    const std::int64_t count = keeps_sums(p) ? p.slices * p.block_count() * block : 0;
    all.hi = carve.take<T>(count);
    all.lo = carve.take<T>(count);
    pieces = carve.take<T>(p.pieces.empty() ? 0 : p.unit_count() * block);
  }
  // Of unit block * slices + slice.
  FilterSums<T> at(std::int64_t index) const { return {all.hi + index * block, all.lo + index * block}; }
};

// Where dw lies.
struct FilterTarget {
  const Kernels& kernels;
  DType dtype;
  void* dw;
};

// A block's sums, rounded once, to their place in dw.
template <class T>
void write_block(const FilterProgram& p, const FilterBlock& b, const FilterSums<T>& sums, const FilterTarget& to) {
  const Layer& l = p.layer;
  to.kernels.of<T>().sums.settle({sums.hi, sums.lo, nullptr, nullptr, sums.hi, block_elements(p)});
  const bool swapped = p.form == FilterForm::swapped;
  const auto bytes = static_cast<std::int64_t>(size_of(to.dtype));
  const std::int64_t taps = b.tap_rows * last_axis_taps(l), first_tap = b.tap_row * last_axis_taps(l);
  const std::int64_t channel = p.form == FilterForm::lanewise ? b.co : b.group * l.c_out + b.co;
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    const std::int64_t at = ((first_tap + tap) * l.c_in + b.ci) * l.all_out() + channel;
    const std::int64_t beside = tap % lane_taps(p);
    const T* from = sums.hi + tap / lane_taps(p) * (swapped ? p.co_each : p.ci_each) * p.pitch + beside * l.c_in;
    to.kernels.copy.out[static_cast<int>(to.dtype)]({from, swapped ? 1 : p.pitch, swapped ? p.pitch : 1,
                                                     static_cast<char*>(to.dw) + at * bytes, l.all_out(), 1, b.ci_count,
                                                     b.co_count});
  }
}

// The slices of a block in order, and to dw.
template <class T>
void join_slices(const FilterProgram& p, std::int64_t block, const SliceSums<T>& slices, const FilterTarget& to) {
  const FilterSums<T> sums = slices.at(block * p.slices);
  for (std::int64_t slice = 1; slice < p.slices; ++slice) {
    const FilterSums<T> more = slices.at(block * p.slices + slice);
    to.kernels.of<T>().sums.fold({sums.hi, sums.lo, more.hi, more.lo, nullptr, slices.block});
  }
  write_block(p, p.block(block), sums, to);
}

}  // namespace convgrad::cpu

// The algorithm of sums.h, once, for any vector width.
#pragma once

#include "engines/cpu/kernels/sums/sums.h"
#include "engines/cpu/simd/simd.h"

namespace convgrad::cpu::HWY_NAMESPACE {
namespace {

template <class T>
void fold(const SumArgs<T>& s) {
  for (std::int64_t i = 0; i < s.count; i += kLanesOf<T>) {
    const FirstLanes<T> lanes(s.count - i);
    const auto hi = lanes.load(s.hi + i);
    const auto block = lanes.load(s.block + i);
    const auto sum = hn::Add(hi, block);
    if constexpr (std::is_floating_point_v<T>) {
      const auto taken = hn::Sub(sum, hi);
      auto lost = hn::Add(hn::Sub(hi, hn::Sub(sum, taken)), hn::Sub(block, taken));
      if (s.block_lo != nullptr) lost = hn::Add(lost, lanes.load(s.block_lo + i));
      lanes.store(hn::Add(lanes.load(s.lo + i), lost), s.lo + i);
    }
    lanes.store(sum, s.hi + i);
  }
}

template <class T>
void settle(const SumArgs<T>& s) {
  for (std::int64_t i = 0; i < s.count; i += kLanesOf<T>) {
    const FirstLanes<T> lanes(s.count - i);
    auto out = lanes.load(s.hi + i);
    if constexpr (std::is_floating_point_v<T>) {
      out = hn::IfThenElse(hn::IsFinite(out), hn::Add(out, lanes.load(s.lo + i)), out);
    }
    lanes.store(out, s.out + i);
  }
}

// Neighbours of 2 vectors added: the sums of `low` first.
template <class V>
HWY_INLINE V add_neighbours(V low, V high) {
  const hn::DFromV<V> d;
  return hn::Add(hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low));
}

template <class T>
void join(const JoinArgs<T>& j) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t kLanes = kLanesOf<T>;
  for (std::int64_t r = 0; r < j.rows; ++r) {
    for (std::int64_t i = 0; i < j.count; i += kLanes) {
      // Vectors without a lane in use are not read; what stands for them is not written.
      const T* from = j.from + r * j.from_row + j.terms * i;
      const auto part = [&](std::int64_t v) {
        return v * kLanes < j.terms * (j.count - i) ? hn::LoadU(d, from + v * kLanes) : hn::Zero(d);
      };
      auto sum = add_neighbours(part(0), part(1));
      if (j.terms == 4) sum = add_neighbours(sum, add_neighbours(part(2), part(3)));
      FirstLanes<T>(j.count - i).store(sum, j.to + r * j.to_row + i);
    }
  }
}

template <class T>
SumTable<T> sum_table() {
  return {fold<T>, settle<T>, join<T>};
}

}  // namespace
}  // namespace convgrad::cpu::HWY_NAMESPACE

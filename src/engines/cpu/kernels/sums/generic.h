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

template <class T>
SumTable<T> sum_table() {
  return {fold<T>, settle<T>};
}

}  // namespace
}  // namespace convgrad::cpu::HWY_NAMESPACE

// The algorithm of copy.h, once, for any vector width.
#pragma once

#include <cstring>

#include "engines/cpu/kernels/copy/copy.h"
#include "engines/cpu/simd/simd.h"

namespace convgrad::cpu::HWY_NAMESPACE {
namespace {

template <class S>
inline constexpr bool kNarrow = std::is_same_v<S, Half> || std::is_same_v<S, BFloat16>;

// One vector of T from S's bits, and back.
template <class T, class S>
HWY_INLINE hn::Vec<hn::ScalableTag<T>> widened(const S* from) {
  const hn::ScalableTag<T> d;
  if constexpr (std::is_same_v<S, BFloat16>) {
    const hn::RebindToUnsigned<decltype(d)> du;
    const hn::Rebind<std::uint16_t, decltype(d)> d16;
    const auto bits = hn::LoadU(d16, reinterpret_cast<const std::uint16_t*>(from));
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, bits)));
  } else if constexpr (std::is_same_v<S, Half>) {
#if HWY_TARGET <= HWY_AVX2 || HWY_ARCH_ARM
    const hn::Rebind<hwy::float16_t, decltype(d)> d16;
    return hn::PromoteTo(d, hn::LoadU(d16, reinterpret_cast<const hwy::float16_t*>(from)));
#else
    HWY_ALIGN T lanes[kLanesOf<T>];
    for (int i = 0; i < kLanesOf<T>; ++i) lanes[i] = static_cast<float>(from[i]);
    return hn::Load(d, lanes);
#endif
  } else {
    return hn::LoadU(d, reinterpret_cast<const T*>(from));
  }
}

template <class T, class S>
HWY_INLINE void narrow(hn::Vec<hn::ScalableTag<T>> value, S* to) {
  const hn::ScalableTag<T> d;
  if constexpr (std::is_same_v<S, BFloat16>) {
    const hn::RebindToUnsigned<decltype(d)> du;
    const hn::Rebind<std::uint16_t, decltype(d)> d16;
    const auto bits = hn::BitCast(du, value);
    const auto high = hn::ShiftRight<16>(bits);
    const auto odd = hn::And(high, hn::Set(du, 1u));
    const auto nearest = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fffu))));
    const auto quiet = hn::Or(high, hn::Set(du, 0x40u));
    const auto chosen = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(value)), quiet, nearest);
    hn::StoreU(hn::DemoteTo(d16, hn::BitCast(hn::RebindToSigned<decltype(d)>(), chosen)), d16,
               reinterpret_cast<std::uint16_t*>(to));
  } else if constexpr (std::is_same_v<S, Half>) {
#if HWY_TARGET <= HWY_AVX2 || HWY_ARCH_ARM
    const hn::Rebind<hwy::float16_t, decltype(d)> d16;
    hn::StoreU(hn::DemoteTo(d16, value), d16, reinterpret_cast<hwy::float16_t*>(to));
#else
    HWY_ALIGN T lanes[kLanesOf<T>];
    hn::Store(value, d, lanes);
    for (int i = 0; i < kLanesOf<T>; ++i) to[i] = Half::from(lanes[i]);
#endif
  } else {
    hn::StoreU(value, d, reinterpret_cast<T*>(to));
  }
}

template <class T, class From, class To>
HWY_INLINE void convert_vector(const From* from, To* to) {
  narrow<T, To>(widened<T, From>(from), to);
}

// T is the accumulator; one of From and To is T.
template <class T, class From, class To>
void convert_row(const From* from, To* to, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + kLanesOf<T> <= count; i += kLanesOf<T>) convert_vector<T>(from + i, to + i);
  if (i == count) return;
  From last_in[kLanesOf<T>] = {};
  To last_out[kLanesOf<T>];
  const auto left = static_cast<std::size_t>(count - i);
  std::memcpy(last_in, from + i, left * sizeof(From));
  convert_vector<T>(last_in, last_out);
  std::memcpy(to + i, last_out, left * sizeof(To));
}

// 4 x 4 of 32 bits or 2 x 2 of 64: to[c * to_step + r] = from[r * from_step + c].
template <class T>
HWY_INLINE void transpose_small(const T* from, std::int64_t from_step, T* to, std::int64_t to_step) {
  const hn::Full128<T> d;
  if constexpr (sizeof(T) == 4) {
    const hn::Full128<double> pair;
    const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + from_step);
    const auto r2 = hn::LoadU(d, from + 2 * from_step), r3 = hn::LoadU(d, from + 3 * from_step);
    const auto a = hn::BitCast(pair, hn::InterleaveLower(d, r0, r1));
    const auto b = hn::BitCast(pair, hn::InterleaveLower(d, r2, r3));
    const auto e = hn::BitCast(pair, hn::InterleaveUpper(d, r0, r1));
    const auto f = hn::BitCast(pair, hn::InterleaveUpper(d, r2, r3));
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pair, a, b)), d, to);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pair, a, b)), d, to + to_step);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pair, e, f)), d, to + 2 * to_step);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pair, e, f)), d, to + 3 * to_step);
  } else {
    const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + from_step);
    hn::StoreU(hn::InterleaveLower(d, r0, r1), d, to);
    hn::StoreU(hn::InterleaveUpper(d, r0, r1), d, to + to_step);
  }
}

constexpr std::int64_t kBlock = 16;  // elements a side: a cache line of f32 on both sides

// to[c * to_step + r] = from[r * from_step + c] for r < rows, c < cols, both at most kBlock.
template <class T>
void transpose_block(const T* from, std::int64_t from_step, T* to, std::int64_t to_step, int rows, int cols) {
  constexpr int kSmall = 16 / sizeof(T);
  const int whole_rows = rows / kSmall * kSmall, whole_cols = cols / kSmall * kSmall;
  for (int c = 0; c < whole_cols; c += kSmall) {
    for (int r = 0; r < whole_rows; r += kSmall)
      transpose_small(from + r * from_step + c, from_step, to + c * to_step + r, to_step);
  }
  for (int r = 0; r < rows; ++r) {
    for (int c = r < whole_rows ? whole_cols : 0; c < cols; ++c) to[c * to_step + r] = from[r * from_step + c];
  }
}

// `from` runs along r, `to` along c: to[r * to_row + c] = convert(from[c * from_col + r]).
template <class T, class From, class To>
void copy_transposed(const CopyArgs& m) {
  T wide_in[kBlock * kBlock], wide_out[kBlock * kBlock];
  for (std::int64_t c = 0; c < m.cols; c += kBlock) {
    const int cols = static_cast<int>(m.cols - c < kBlock ? m.cols - c : kBlock);
    for (std::int64_t r = 0; r < m.rows; r += kBlock) {
      const int rows = static_cast<int>(m.rows - r < kBlock ? m.rows - r : kBlock);
      const From* from = static_cast<const From*>(m.from) + c * m.from_col + r;
      To* to = static_cast<To*>(m.to) + r * m.to_row + c;
      const T* source = wide_in;
      std::int64_t source_step = kBlock;
      if constexpr (kNarrow<From>) {
        for (int i = 0; i < cols; ++i) convert_row<T>(from + i * m.from_col, wide_in + i * kBlock, rows);
      } else {
        source = reinterpret_cast<const T*>(from);
        source_step = m.from_col;
      }
      if constexpr (kNarrow<To>) {
        transpose_block(source, source_step, wide_out, kBlock, cols, rows);
        for (int i = 0; i < rows; ++i) convert_row<T>(wide_out + i * kBlock, to + i * m.to_row, cols);
      } else {
        transpose_block(source, source_step, reinterpret_cast<T*>(to), m.to_row, cols, rows);
      }
    }
  }
}

// No neighbours on one side, as every second pixel of a channels-first row: gathered, converted a vector at
// a time, scattered.
template <class T, class From, class To>
void copy_elements(const CopyArgs& m) {
  From gathered[kLanesOf<T>] = {};
  To converted[kLanesOf<T>];
  for (std::int64_t c = 0; c < m.cols; ++c) {
    const From* from = static_cast<const From*>(m.from) + c * m.from_col;
    To* to = static_cast<To*>(m.to) + c * m.to_col;
    for (std::int64_t r = 0; r < m.rows; r += kLanesOf<T>) {
      const std::int64_t count = m.rows - r < kLanesOf<T> ? m.rows - r : kLanesOf<T>;
      for (std::int64_t i = 0; i < count; ++i) gathered[i] = from[(r + i) * m.from_row];
      convert_vector<T>(gathered, converted);
      for (std::int64_t i = 0; i < count; ++i) to[(r + i) * m.to_row] = converted[i];
    }
  }
}

template <class T, class From, class To>
void copy(const CopyArgs& m) {
  if (m.from_col == 1 && m.to_col == 1 && m.from_row == m.cols && m.to_row == m.cols) {
    convert_row<T>(static_cast<const From*>(m.from), static_cast<To*>(m.to), m.rows * m.cols);
  } else if (m.from_col == 1 && m.to_col == 1) {
    for (std::int64_t r = 0; r < m.rows; ++r) {
      convert_row<T>(static_cast<const From*>(m.from) + r * m.from_row, static_cast<To*>(m.to) + r * m.to_row, m.cols);
    }
  } else if (m.from_row == 1 && m.to_row == 1) {
    copy<T, From, To>({m.from, m.from_col, m.from_row, m.to, m.to_col, m.to_row, m.cols, m.rows});
  } else if (m.from_row == 1 && m.to_col == 1) {
    copy_transposed<T, From, To>(m);
  } else if (m.from_col == 1 && m.to_row == 1) {
    copy_transposed<T, From, To>({m.from, m.from_col, m.from_row, m.to, m.to_col, m.to_row, m.cols, m.rows});
  } else {
    copy_elements<T, From, To>(m);
  }
}

template <class T>
void expand_by_index(const ExpandArgs<T>& e, std::int64_t first) {
  for (std::int64_t r = 0; r < e.rows; ++r) {
    const T* from = e.from + r * e.from_row;
    T* to = e.to + r * e.to_row;
    for (std::int64_t c = first; c < e.cols; ++c) to[c] = from[e.index[c]];
  }
}

template <class T>
void expand(const ExpandArgs<T>& e) {
  using D = hn::ScalableTag<T>;
  if (e.within == 0 || kLanesOf<T> % e.within != 0) return expand_by_index(e, 0);
  using Index = hn::TFromD<hn::RebindToSigned<D>>;
  HWY_ALIGN Index lanes[kLanesOf<T>];
  for (std::int64_t l = 0; l < kLanesOf<T>; ++l) lanes[l] = static_cast<Index>(l - l % e.within + e.index[0]);
  const auto table = hn::SetTableIndices(D(), lanes);
  const std::int64_t whole = e.cols / kLanesOf<T> * kLanesOf<T>;
  for (std::int64_t r = 0; r < e.rows; ++r) {
    const T* from = e.from + r * e.from_row;
    T* to = e.to + r * e.to_row;
    for (std::int64_t c = 0; c < whole; c += kLanesOf<T>)
      hn::StoreU(hn::TableLookupLanes(hn::LoadU(D(), from + c), table), D(), to + c);
  }
  expand_by_index(e, whole);
}

CopyTable copy_table() {
  CopyTable table{};
#define CONVGRAD_DTYPE(id, type, accumulator, tf, numpy, roundoff, dl_code, dl_bits) \
  table.in[static_cast<int>(DType::id)] = copy<accumulator, type, accumulator>;      \
  table.out[static_cast<int>(DType::id)] = copy<accumulator, accumulator, type>;
#include "convgrad/dtypes.inc"
#undef CONVGRAD_DTYPE
  return table;
}

}  // namespace
}  // namespace convgrad::cpu::HWY_NAMESPACE

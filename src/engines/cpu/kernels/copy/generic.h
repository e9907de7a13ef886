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

template <class S>
using BitsOf = hwy::UnsignedFromSize<sizeof(S)>;

// The first `count` elements of a buffer, from memory and back. Whole buffers are read and written by vector, where
// masks allow: the bytes of a row's end come and go at once.
template <class S, std::size_t kSize>
HWY_INLINE void load_some(const S* from, std::size_t count, S (&buffer)[kSize]) {
  if constexpr (kMasked16) {
    const hn::CappedTag<BitsOf<S>, kSize> d;
    hn::StoreU(hn::MaskedLoad(hn::FirstN(d, count), d, reinterpret_cast<const BitsOf<S>*>(from)), d,
               reinterpret_cast<BitsOf<S>*>(buffer));
  } else {
    std::memcpy(buffer, from, count * sizeof(S));
  }
}
template <class S, std::size_t kSize>
HWY_INLINE void store_some(const S (&buffer)[kSize], std::size_t count, S* to) {
  if constexpr (kMasked16) {
    const hn::CappedTag<BitsOf<S>, kSize> d;
    hn::BlendedStore(hn::LoadU(d, reinterpret_cast<const BitsOf<S>*>(buffer)), hn::FirstN(d, count), d,
                     reinterpret_cast<BitsOf<S>*>(to));
  } else {
    std::memcpy(to, buffer, count * sizeof(S));
  }
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
  load_some(from + i, left, last_in);
  convert_vector<T>(last_in, last_out);
  store_some(last_out, left, to + i);
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

#if HWY_TARGET <= HWY_AVX3
// line[i][p] = line[p][i]: elements, then pairs, then quarters of registers change places, 64 shuffles in all.
HWY_INLINE void transpose(__m512i (&line)[kBlock]) {
  __m512i a[kBlock], b[kBlock];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    a[i] = _mm512_unpacklo_epi32(line[i], line[i + 1]);
    a[i + 1] = _mm512_unpackhi_epi32(line[i], line[i + 1]);
  }
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 4) {
    b[i] = _mm512_unpacklo_epi64(a[i], a[i + 2]);
    b[i + 1] = _mm512_unpackhi_epi64(a[i], a[i + 2]);
    b[i + 2] = _mm512_unpacklo_epi64(a[i + 1], a[i + 3]);
    b[i + 3] = _mm512_unpackhi_epi64(a[i + 1], a[i + 3]);
  }
#pragma GCC unroll 8
  for (int j = 0; j < 4; ++j) {
    const __m512i even = _mm512_shuffle_i32x4(b[j], b[4 + j], 0x88),
                  more = _mm512_shuffle_i32x4(b[8 + j], b[12 + j], 0x88);
    const __m512i odd = _mm512_shuffle_i32x4(b[j], b[4 + j], 0xdd),
                  rest = _mm512_shuffle_i32x4(b[8 + j], b[12 + j], 0xdd);
    line[j] = _mm512_shuffle_i32x4(even, more, 0x88);
    line[4 + j] = _mm512_shuffle_i32x4(odd, rest, 0x88);
    line[8 + j] = _mm512_shuffle_i32x4(even, more, 0xdd);
    line[12 + j] = _mm512_shuffle_i32x4(odd, rest, 0xdd);
  }
}
#endif

// to[c * to_step + r] = from[r * from_step + c] for r < rows, c < cols, both at most kBlock.
template <class T>
void transpose_block(const T* from, std::int64_t from_step, T* to, std::int64_t to_step, int rows, int cols) {
#if HWY_TARGET <= HWY_AVX3
  if (sizeof(T) == 4 && rows == kBlock && cols == kBlock) {
    __m512i line[kBlock];
#pragma GCC unroll 16
    for (int r = 0; r < kBlock; ++r) line[r] = _mm512_loadu_si512(from + r * from_step);
    transpose(line);
#pragma GCC unroll 16
    for (int c = 0; c < kBlock; ++c) _mm512_storeu_si512(to + c * to_step, line[c]);
    return;
  }
#endif
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

// to[i] = from[i * step], with room for a whole block in `to` behind the last. Every second is two loads and a shuffle,
// neither of which reaches past the last element taken.
template <class S>
HWY_INLINE void take_every(const S* from, std::int64_t step, S* to, std::int64_t count) {
  using Bits = BitsOf<S>;
  const hn::CappedTag<Bits, kBlock> d;
  constexpr std::int64_t kLanes = hn::MaxLanes(d);
  std::int64_t i = 0;
  if (step == 2) {
    const auto* bits = reinterpret_cast<const Bits*>(from);
    auto* taken = reinterpret_cast<Bits*>(to);
    for (; i + kLanes <= count; i += kLanes) {
      const auto low = hn::LoadU(d, bits + 2 * i), high = hn::LoadU(d, bits + 2 * i + kLanes - 1);
      hn::StoreU(hn::ConcatEven(d, hn::Reverse2(d, high), low), d, taken + i);
    }
    if (kMasked16 && i < count) {  // whole: a vector stored in pieces and then read waits
      const auto some = [&](std::int64_t first) {
        const std::int64_t left = 2 * (count - i) - 1 - first;
        const auto mask = hn::FirstN(d, static_cast<std::size_t>(left < 0 ? 0 : left < kLanes ? left : kLanes));
        return hn::MaskedLoad(mask, d, bits + 2 * i + first);
      };
      hn::StoreU(hn::ConcatEven(d, some(kLanes), some(0)), d, taken + i);
      return;
    }
  }
  for (; i < count; ++i) to[i] = from[i * step];
}

template <class S>
void put_every(const S* from, S* to, std::int64_t step, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i * step] = from[i];
}

// `from` runs along r, `to` along c, block by block: taken, widened, transposed, narrowed, put, as far as needed.
template <class T, class From, class To>
void copy_transposed(const CopyArgs& m) {
  From taken[kBlock * kBlock];
  To given[kBlock * kBlock];
  T wide_in[kBlock * kBlock], wide_out[kBlock * kBlock];
  for (std::int64_t c = 0; c < m.cols; c += kBlock) {
    const int cols = static_cast<int>(m.cols - c < kBlock ? m.cols - c : kBlock);
    for (std::int64_t r = 0; r < m.rows; r += kBlock) {
      const int rows = static_cast<int>(m.rows - r < kBlock ? m.rows - r : kBlock);
      const From* from = static_cast<const From*>(m.from) + c * m.from_col + r * m.from_row;
      std::int64_t from_step = m.from_col;
      if (m.from_row != 1) {
        for (int i = 0; i < cols; ++i) take_every(from + i * m.from_col, m.from_row, taken + i * kBlock, rows);
        from = taken;
        from_step = kBlock;
      }
      const T* source = wide_in;
      if constexpr (kNarrow<From>) {
        for (int i = 0; i < cols; ++i) convert_row<T>(from + i * from_step, wide_in + i * kBlock, rows);
        from_step = kBlock;
      } else {
        source = reinterpret_cast<const T*>(from);
      }
      To* target = static_cast<To*>(m.to) + r * m.to_row + c * m.to_col;
      To* to = m.to_col == 1 ? target : given;
      const std::int64_t to_step = m.to_col == 1 ? m.to_row : kBlock;
      if constexpr (kNarrow<To>) {
        transpose_block(source, from_step, wide_out, kBlock, cols, rows);
        for (int i = 0; i < rows; ++i) convert_row<T>(wide_out + i * kBlock, to + i * to_step, cols);
      } else {
        transpose_block(source, from_step, reinterpret_cast<T*>(to), to_step, cols, rows);
      }
      if (m.to_col == 1) continue;
      for (int i = 0; i < rows; ++i) put_every(given + i * kBlock, target + i * m.to_row, m.to_col, cols);
    }
  }
}

// Colour images: three planes `from_col` apart become pixels of three.
template <class T, class From>
void planes_to_pixels(const CopyArgs& m) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t kLanes = kLanesOf<T>;
  const auto store = [&](const From* first, std::int64_t plane, T* to) {
    hn::StoreInterleaved3(widened<T>(first), widened<T>(first + plane), widened<T>(first + 2 * plane), d, to);
  };
  const From* from = static_cast<const From*>(m.from);
  T* to = static_cast<T*>(m.to);
  std::int64_t r = 0;
  for (; r + kLanes <= m.rows; r += kLanes) store(from + r, m.from_col, to + 3 * r);
  if (r == m.rows) return;
  From last_in[3 * kLanes] = {};
  T last_out[3 * kLanes];
  const auto left = static_cast<std::size_t>(m.rows - r);
  for (int c = 0; c < 3; ++c) std::memcpy(last_in + c * kLanes, from + c * m.from_col + r, left * sizeof(From));
  store(last_in, kLanes, last_out);
  std::memcpy(to + 3 * r, last_out, 3 * left * sizeof(T));
}

// And back: planes lie `to_row` apart.
template <class T, class To>
void pixels_to_planes(const CopyArgs& m) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t kLanes = kLanesOf<T>;
  const auto store = [&](const T* from, To* first, std::int64_t plane) {
    hn::Vec<decltype(d)> v0, v1, v2;
    hn::LoadInterleaved3(d, from, v0, v1, v2);
    narrow<T>(v0, first);
    narrow<T>(v1, first + plane);
    narrow<T>(v2, first + 2 * plane);
  };
  const T* from = static_cast<const T*>(m.from);
  To* to = static_cast<To*>(m.to);
  std::int64_t c = 0;
  for (; c + kLanes <= m.cols; c += kLanes) store(from + 3 * c, to + c, m.to_row);
  if (c == m.cols) return;
  T last_in[3 * kLanes] = {};
  To last_out[3 * kLanes];
  const auto left = static_cast<std::size_t>(m.cols - c);
  std::memcpy(last_in, from + 3 * c, 3 * left * sizeof(T));
  store(last_in, last_out, kLanes);
  for (int r = 0; r < 3; ++r) std::memcpy(to + r * m.to_row + c, last_out + r * kLanes, left * sizeof(To));
}

template <class T, class From, class To>
void copy_line(const From* from, std::int64_t from_step, To* to, std::int64_t to_step, std::int64_t count) {
  if (from_step == 1 && to_step == 1) return convert_row<T>(from, to, count);
  constexpr std::int64_t kPiece = kBlock * kBlock;
  From taken[kPiece];
  To given[kPiece];
  for (std::int64_t i = 0; i < count; i += kPiece) {
    const std::int64_t piece = count - i < kPiece ? count - i : kPiece;
    if (from_step != 1) take_every(from + i * from_step, from_step, taken, piece);
    convert_row<T>(from_step == 1 ? from + i : taken, to_step == 1 ? to + i : given, piece);
    if (to_step != 1) put_every(given, to + i * to_step, to_step, piece);
  }
}

// Rows with gaps between them, as some channels of all pixels are, start streams too short for the CPU to see.
constexpr std::int64_t kRowsAhead = 6;
template <class From>
HWY_INLINE void fetch_row(const From* row, std::int64_t count) {
  constexpr std::int64_t kLine = 64 / sizeof(From);
  for (std::int64_t i = 0; i < count; i += kLine) __builtin_prefetch(row + i);
}

// Both run along c.
template <class T, class From, class To>
void copy_lines(const CopyArgs& m) {
  const From* from = static_cast<const From*>(m.from);
  To* to = static_cast<To*>(m.to);
  if (m.from_col == 1 && m.to_col == 1 && m.from_row == m.cols && m.to_row == m.cols)
    return convert_row<T>(from, to, m.rows * m.cols);
  for (std::int64_t r = 0; r < m.rows; ++r) {
    if (m.from_col == 1) fetch_row(from + (r + kRowsAhead) * m.from_row, m.cols);
    copy_line<T>(from + r * m.from_row, m.from_col, to + r * m.to_row, m.to_col, m.cols);
  }
}

template <class T, class From, class To>
void copy(const CopyArgs& m) {
  const CopyArgs turned{m.from, m.from_col, m.from_row, m.to, m.to_col, m.to_row, m.cols, m.rows};
  const bool line = m.rows == 1 || m.cols == 1;
  const bool from_rows = line ? m.cols == 1 : m.from_row < m.from_col;
  const bool to_rows = line ? m.cols == 1 : m.to_row < m.to_col;
  if (from_rows == to_rows) return copy_lines<T, From, To>(from_rows ? turned : m);
  const CopyArgs& t = from_rows ? m : turned;
  if constexpr (!kNarrow<To>) {
    if (t.cols == 3 && t.from_row == 1 && t.to_row == 3 && t.to_col == 1) return planes_to_pixels<T, From>(t);
  }
  if constexpr (!kNarrow<From>) {
    if (t.rows == 3 && t.from_col == 3 && t.from_row == 1 && t.to_col == 1) return pixels_to_planes<T, To>(t);
  }
  copy_transposed<T, From, To>(t);
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

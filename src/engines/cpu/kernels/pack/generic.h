// The algorithm of pack.h, once, for any vector width. Two 16-bit neighbours of one column travel as a pair of
// 32 bits, so that a transpose is one of 32-bit elements.
#pragma once

#include <cstring>

#include "engines/cpu/kernels/copy/generic.h"
#include "engines/cpu/kernels/pack/pack.h"
#include "engines/cpu/simd/simd.h"

namespace convgrad::cpu::HWY_NAMESPACE {
namespace {

constexpr std::int64_t kPackCols = 16;  // a block: 16 columns, or 16 pairs

constexpr std::int64_t at_most(std::int64_t value, std::int64_t limit) { return value < limit ? value : limit; }

// 16 columns of two rows as 16 pairs, the upper row in the low halves. Without a lower row it counts as zeros.
template <class T>
HWY_INLINE void interleave(const std::uint16_t* upper, const std::uint16_t* lower, T* pairs) {
  const hn::ScalableTag<std::uint32_t> d;
  const hn::Rebind<std::uint16_t, decltype(d)> d16;
  const hn::Repartition<T, decltype(d)> as_t;
  for (std::int64_t c = 0; c < kPackCols; c += kLanesOf<std::uint32_t>) {
    auto pair = hn::PromoteTo(d, hn::LoadU(d16, upper + c));
    if (lower != nullptr) pair = hn::Or(pair, hn::ShiftLeft<16>(hn::PromoteTo(d, hn::LoadU(d16, lower + c))));
    hn::StoreU(hn::BitCast(as_t, pair), as_t, pairs + c * static_cast<std::int64_t>(4 / sizeof(T)));
  }
}

// The same for `cols` < 16 columns; the others become zeros.
void interleave_some(const std::uint16_t* upper, const std::uint16_t* lower, std::int64_t cols, std::uint32_t* pairs) {
  if constexpr (kMasked16) {
    const hn::ScalableTag<std::uint32_t> d;
    const hn::Rebind<std::uint16_t, decltype(d)> d16;
    const auto some = hn::FirstN(d16, static_cast<std::size_t>(cols));
    auto pair = hn::PromoteTo(d, hn::MaskedLoad(some, d16, upper));
    if (lower != nullptr) pair = hn::Or(pair, hn::ShiftLeft<16>(hn::PromoteTo(d, hn::MaskedLoad(some, d16, lower))));
    hn::StoreU(pair, d, pairs);
  } else {
    for (std::int64_t c = 0; c < kPackCols; ++c) {
      const std::uint32_t low = c < cols ? upper[c] : 0u, high = c < cols && lower != nullptr ? lower[c] : 0u;
      pairs[c] = low | high << 16;
    }
  }
}

// A block of 16 x 16 pairs: line l, pair p lies at pairs[16 * l + p].
struct PairBlock {
  HWY_ALIGN std::uint32_t pairs[kPackCols * kPackCols] = {};

  std::uint32_t* line(std::int64_t l) { return pairs + l * kPackCols; }
};

#if HWY_TARGET <= HWY_AVX3
// `from` runs along r: a block becomes pairs of columns and is transposed.
void rows_transposed(const PackArgs& m) {
  for (std::int64_t c = 0; c < m.cols; c += 2 * kPackCols) {
    const std::int64_t cols = at_most(m.cols - c, 2 * kPackCols);
    const __mmask32 stored = static_cast<__mmask32>((std::uint64_t{1} << cols) - 1);
    for (std::int64_t r = 0; r < m.rows; r += kPackCols) {
      const std::int64_t rows = at_most(m.rows - r, kPackCols);
      const auto loaded = static_cast<__mmask16>((1u << rows) - 1);
      const auto column = [&](std::int64_t l) {
        const __mmask16 mask = l < cols ? loaded : __mmask16{0};
        return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, m.from + (c + l) * m.from_col + r));
      };
      __m512i line[kPackCols];
#pragma GCC unroll 16
      for (int p = 0; p < 16; ++p) line[p] = _mm512_or_si512(column(2 * p), _mm512_slli_epi32(column(2 * p + 1), 16));
      transpose(line);
      std::uint16_t* to = m.to + r * m.to_row + c;
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i) {
        if (i < rows) _mm512_mask_storeu_epi16(to + i * m.to_row, stored, line[i]);
      }
    }
  }
}

// 16 columns; `from` runs along r, so a pair is two neighbours of a column already.
void pairs_transposed(const PackArgs& m) {
  for (std::int64_t r = 0; r < m.rows; r += 2 * kPackCols) {
    const std::int64_t rows = at_most(m.rows - r, 2 * kPackCols);
    const auto loaded = static_cast<__mmask32>((std::uint64_t{1} << rows) - 1);
    __m512i line[kPackCols];
#pragma GCC unroll 16
    for (int c = 0; c < 16; ++c) {
      line[c] = _mm512_maskz_loadu_epi16(c < m.cols ? loaded : __mmask32{0}, m.from + c * m.from_col + r);
    }
    transpose(line);
#pragma GCC unroll 16
    for (int p = 0; p < 16; ++p) {
      if (2 * p < rows) _mm512_storeu_si512(m.to + (r + 2 * p) * kPackCols, line[p]);
    }
  }
}
#else
// Lines in fours, which is how transpose_block is fast.
int whole_fours(std::int64_t count) { return static_cast<int>((count + 3) / 4 * 4); }

// Up to 16 rows and 32 columns, of a matrix that runs along r, as lines of pairs of columns.
HWY_INLINE void pair_columns(const std::uint16_t* from, std::int64_t from_col, std::int64_t rows, std::int64_t cols,
                             PairBlock& block) {
  for (std::int64_t c = 0; c < cols; c += 2) {
    const std::uint16_t* upper = from + c * from_col;
    const std::uint16_t* lower = c + 1 < cols ? upper + from_col : nullptr;
    std::uint32_t* line = block.line(c / 2);
    rows == kPackCols ? interleave(upper, lower, line) : interleave_some(upper, lower, rows, line);
  }
}

// The same two in memory. Whole vectors go straight to their place: lines written in pieces and read whole wait.
void rows_transposed(const PackArgs& m) {
  PairBlock in, out;
  for (std::int64_t c = 0; c < m.cols; c += 2 * kPackCols) {
    const std::int64_t cols = at_most(m.cols - c, 2 * kPackCols);
    for (std::int64_t r = 0; r < m.rows; r += kPackCols) {
      const std::int64_t rows = at_most(m.rows - r, kPackCols);
      std::uint16_t* to = m.to + r * m.to_row + c;
      pair_columns(m.from + c * m.from_col + r, m.from_col, rows, cols, in);
      if (cols % 8 == 0 && rows == kPackCols && m.to_row % 2 == 0) {
        transpose_block(in.pairs, kPackCols, reinterpret_cast<std::uint32_t*>(to), m.to_row / 2,
                        static_cast<int>(cols / 2), int{kPackCols});
        continue;
      }
      transpose_block(in.pairs, kPackCols, out.pairs, kPackCols, whole_fours((cols + 1) / 2), int{kPackCols});
      for (std::int64_t i = 0; i < rows; ++i)
        std::memcpy(to + i * m.to_row, out.line(i), static_cast<std::size_t>(cols) * 2);
    }
  }
}

void pairs_transposed(const PackArgs& m) {
  PairBlock in, out;
  for (std::int64_t r = 0; r < m.rows; r += 2 * kPackCols) {
    const std::int64_t lines = at_most(m.rows - r, 2 * kPackCols), line_pairs = (lines + 1) / 2;
    for (std::int64_t c = 0; c < m.cols; ++c) {
      in.line(c)[line_pairs - 1] = 0;  // an odd last row has no partner
      std::memcpy(in.line(c), m.from + c * m.from_col + r, static_cast<std::size_t>(lines) * 2);
    }
    transpose_block(in.pairs, kPackCols, out.pairs, kPackCols, int{kPackCols}, whole_fours(line_pairs));
    std::memcpy(m.to + r * kPackCols, out.pairs, static_cast<std::size_t>(line_pairs * kPackCols) * 4);
  }
}

#endif

// to[c] = from[2 * c]: the phases of a channels-first row.
void every_second(const std::uint16_t* from, std::uint16_t* to, std::int64_t count) {
  const hn::ScalableTag<std::uint16_t> d;
  constexpr std::int64_t kLanes = kLanesOf<std::uint16_t>;
  for (std::int64_t c = 0; c < count; c += kLanes) {
    const std::int64_t taken = at_most(count - c, kLanes), low = at_most(2 * taken - 1, kLanes);
    const auto some = [&](std::int64_t first, std::int64_t lanes) {
      return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(lanes)), d, from + 2 * c + first);
    };
    const auto high = 2 * taken - 1 > kLanes ? some(kLanes, 2 * taken - 1 - kLanes) : hn::Zero(d);
    const auto even = hn::ConcatEven(d, high, some(0, low));
    hn::BlendedStore(even, hn::FirstN(d, static_cast<std::size_t>(taken)), d, to + c);
  }
}

void pack_rows(const PackArgs& m) {
  if (m.from_row == 1 && m.from_col != 1) return rows_transposed(m);
  for (std::int64_t r = 0; r < m.rows; ++r) {
    const std::uint16_t* from = m.from + r * m.from_row;
    std::uint16_t* to = m.to + r * m.to_row;
    if (m.from_col == 1) {
      std::memcpy(to, from, static_cast<std::size_t>(m.cols) * 2);
    } else if (kMasked16 && m.from_col == 2) {
      every_second(from, to, m.cols);
    } else {
      for (std::int64_t c = 0; c < m.cols; ++c) to[c] = from[c * m.from_col];
    }
  }
}

// 16 columns; `from` runs along c.
void pairs_along(const PackArgs& m) {
  for (std::int64_t r = 0; r < m.rows; r += 2) {
    const std::uint16_t* upper = m.from + r * m.from_row;
    const std::uint16_t* lower = r + 1 < m.rows ? upper + m.from_row : nullptr;
    std::uint16_t* to = m.to + r * kPackCols;
    if (m.cols == kPackCols) {
      interleave(upper, lower, to);
    } else {
      std::uint32_t pairs[kPackCols];
      interleave_some(upper, lower, m.cols, pairs);
      std::memcpy(to, pairs, sizeof(pairs));
    }
  }
}

void pairs_of_elements(const PackArgs& m) {
  for (std::int64_t r = 0; r < (m.rows + 1) / 2 * 2; ++r) {
    for (std::int64_t c = 0; c < kPackCols; ++c) {
      m.to[r / 2 * 2 * kPackCols + c * 2 + r % 2] =
          r < m.rows && c < m.cols ? m.from[r * m.from_row + c * m.from_col] : std::uint16_t{0};
    }
  }
}

void pack_pairs(const PackArgs& all) {
  for (std::int64_t c = 0; c < all.cols; c += kPackCols) {
    PackArgs one = all;
    one.from += c * all.from_col;
    one.to += c / kPackCols * all.to_row;
    one.cols = at_most(all.cols - c, kPackCols);
    if (all.from_col == 1) {
      pairs_along(one);
    } else if (all.from_row == 1) {
      pairs_transposed(one);
    } else {
      pairs_of_elements(one);
    }
  }
}

// Of the magnitudes t, infinities and NaNs are 0x7f80 and more, denormals 1 to 0x7f; t - 1 takes 0 out of the way.
bool has_special(const std::uint16_t* bf16, std::int64_t count) {
  const hn::ScalableTag<std::uint16_t> d;
  constexpr std::int64_t kLanes = kLanesOf<std::uint16_t>;
  const auto magnitude = hn::Set(d, std::uint16_t{0x7fff}), one = hn::Set(d, std::uint16_t{1});
  auto largest = hn::Zero(d), least = hn::Set(d, std::uint16_t{0xffff});
  const auto look = [&](const std::uint16_t* at) {
    const auto t = hn::And(hn::LoadU(d, at), magnitude);
    largest = hn::Max(largest, t);
    least = hn::Min(least, hn::Sub(t, one));
  };
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) look(bf16 + i);
  if (i < count) {
    HWY_ALIGN std::uint16_t last[kLanes] = {};
    std::memcpy(last, bf16 + i, static_cast<std::size_t>(count - i) * 2);
    look(last);
  }
  HWY_ALIGN std::uint16_t high[kLanes], low[kLanes];
  hn::Store(largest, d, high);
  hn::Store(least, d, low);
  bool special = false;
  for (std::int64_t l = 0; l < kLanes; ++l) special = special || high[l] >= 0x7f80 || low[l] < 0x7f;
  return special;
}

PackTable pack_table() { return {pack_rows, pack_pairs, has_special}; }

}  // namespace
}  // namespace convgrad::cpu::HWY_NAMESPACE

// The tile registers as their maker describes them, in plain C++: what packs for them and what maps matrices
// onto them is tested on every machine.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "engines/cpu/kernels/pairs/tiles.h"

namespace convgrad::cpu {
namespace {

struct Tile {
  std::int64_t rows = 0, bytes = 0;  // 0: not set up
  unsigned char row[kTileRows][kTileBytes];

  template <class T>
  T get(std::int64_t m, std::int64_t n) const {
    T value;
    std::memcpy(&value, row[m] + n * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    return value;
  }
  void put(std::int64_t m, std::int64_t n, float value) { std::memcpy(row[m] + n * 4, &value, 4); }
};

thread_local Tile tiles[8];

constexpr float kLeast = std::numeric_limits<float>::min(), kMost = std::numeric_limits<float>::max();

// Denormals count as zero on the way in and out, whatever the thread's mode.
float flushed(float value) { return std::fabs(value) < kLeast ? std::copysign(0.0f, value) : value; }
float number(std::uint16_t bf16) { return flushed(std::bit_cast<float>(static_cast<std::uint32_t>(bf16) << 16)); }

// One rounding. Products of bf16 are exact in f32 but for their range, so a plain sum, ten times as fast as the
// library's fma, mostly rounds once too.
float product_added(float a, float b, float sum) {
  const float product = a * b;
  const bool exact = std::fabs(product) >= kLeast && std::fabs(product) <= kMost;
  return flushed(exact ? sum + product : std::fma(a, b, sum));
}

struct Model {
  static void configure(const TileConfig& config) {
    for (std::size_t t = 0; t < 8; ++t) tiles[t] = {config.rows[t], config.row_bytes[t], {}};
  }
  static void release() {
    for (Tile& tile : tiles) tile = {};
  }
  template <int kTile>
  static void zero() {
    std::memset(tiles[kTile].row, 0, sizeof(tiles[kTile].row));
  }
  template <int kTile>
  static void load(const void* from, std::int64_t row_bytes) {
    Tile& tile = tiles[kTile];
    for (std::int64_t m = 0; m < tile.rows; ++m)
      std::memcpy(tile.row[m], static_cast<const char*>(from) + m * row_bytes, static_cast<std::size_t>(tile.bytes));
  }
  template <int kTile>
  static void store(void* to, std::int64_t row_bytes) {
    const Tile& tile = tiles[kTile];
    for (std::int64_t m = 0; m < tile.rows; ++m)
      std::memcpy(static_cast<char*>(to) + m * row_bytes, tile.row[m], static_cast<std::size_t>(tile.bytes));
  }

  // Even and odd terms in a chain each, from 0; the chains' sum is added to the tile.
  template <int kSums, int kA, int kB>
  static void dot() {
    Tile& sums = tiles[kSums];
    const Tile &a = tiles[kA], &b = tiles[kB];
    const bool fits = sums.rows == a.rows && sums.bytes == b.bytes && a.bytes == 4 * b.rows && sums.rows > 0;
    for (std::int64_t m = 0; m < sums.rows; ++m) {
      for (std::int64_t n = 0; n < sums.bytes / 4; ++n) {
        float chain[2] = {};
        for (std::int64_t k = 0; k < a.bytes / 2; ++k) {
          const auto left = a.get<std::uint16_t>(m, k), right = b.get<std::uint16_t>(k / 2, 2 * n + k % 2);
          chain[k % 2] = product_added(number(left), number(right), chain[k % 2]);
        }
        const float old = flushed(sums.get<float>(m, n)), more = flushed(chain[0] + chain[1]);
        sums.put(m, n, fits ? flushed(old + more) : std::numeric_limits<float>::quiet_NaN());  // a CPU would stop
      }
    }
  }
};

}  // namespace

PairKernels pairs_amx_model(double gain, bool wins) {
  return {"amx_model", 2, gain, wins, multiply_by_tiles<Model>, leave_tiles<Model>};
}

}  // namespace convgrad::cpu

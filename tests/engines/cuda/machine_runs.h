// Small integers as 16-bit elements, and runs of the host machine under many seeds.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <functional>
#include <string>

#include "support/cuda_machine/machine.h"

namespace convgrad::cuda {

inline constexpr std::uint64_t kSeeds = 12;

// Small integers, exact in every type, from an index and a salt.
inline int small(unsigned i, unsigned salt) {
  unsigned v = (i + 1) * 0x9e3779b9u ^ salt * 0x85ebca6bu;
  v = (v ^ v >> 15) * 0x2c1b3c6du;
  return static_cast<int>((v ^ v >> 13) % 15) - 7;
}

inline std::uint16_t bf16(int value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16);
}

// Magnitudes 1 to 7 and 0.
inline std::uint16_t f16(int value) {
  if (value == 0) return 0;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return static_cast<std::uint16_t>((bits >> 16 & 0x8000u) | ((bits >> 23 & 255u) - 112) << 10 | (bits >> 13 & 1023u));
}

inline std::uint32_t pair(std::uint16_t low, std::uint16_t high) {
  return low | static_cast<std::uint32_t>(high) << 16;
}

// Every seed must run clean.
inline void run_clean(Grid grid, const std::function<void()>& kernel) {
  for (grid.seed = 0; grid.seed < kSeeds; ++grid.seed) ASSERT_EQ(run_on_host(grid, kernel), "") << "seed " << grid.seed;
}

// Every seed must be refused in these words.
inline void run_refused(Grid grid, const std::function<void()>& kernel, const std::string& words) {
  for (grid.seed = 0; grid.seed < kSeeds; ++grid.seed) {
    const std::string said = run_on_host(grid, kernel);
    ASSERT_NE(said.find(words), std::string::npos) << "seed " << grid.seed << " said: " << said;
  }
}

}  // namespace convgrad::cuda

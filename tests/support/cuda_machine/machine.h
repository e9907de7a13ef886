// Runs kernels made of atoms (engines/cuda/atoms) on the host, thread by thread, in an order and with delays that a
// seed decides, and says what a device would not have forgiven.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engines/cuda/atoms/atoms.h"

namespace convgrad::cuda {

struct Grid {
  unsigned blocks;
  unsigned threads;       // in a block: whole warps, at most 1024
  unsigned shared_bytes;  // at most 227 KiB
  std::uint64_t seed;
  // Where copies may read; anywhere when empty.
  std::vector<std::span<const std::byte>> readable = {};
};

// Runs every block in turn. Empty, or a sentence about the first thing that went wrong; the rest is then not run.
//
// Threads switch where they wait, and at random where they use a barrier. Shared memory is 0xFF (NaN) when a block
// starts. So are the targets of copies and boxes from their issue until they land, at a random moment, for copies at
// the latest in the wait that covers them, and accumulators of a warpgroup until the wait that covers them. A
// warpgroup's product reads its operands at a random moment before that wait.
std::string run_on_host(const Grid& grid, const std::function<void()>& kernel);

}  // namespace convgrad::cuda

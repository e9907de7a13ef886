// From a geometry to launches: which kernels run, on which parts, in which order. No device is asked for anything.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convgrad/plan.h"
#include "engines/cuda/launch.h"

namespace convgrad::cuda {

// What a program depends on besides the problem. Nothing of it changes a result's bits within one generation of GPUs.
struct Hardware {
  bool hopper = true;                  // boxes and warpgroup products
  unsigned shared_bytes = 227 * 1024;  // that a block may have
};

// Tensors and workspace where the device finds them.
struct Buffers {
  const void* first = nullptr;
  const void* second = nullptr;
  void* result = nullptr;
  void* workspace = nullptr;
};

// Why the engine cannot do the problem; empty: it can.
std::string objection(const Geometry& geometry);

struct Program final : EngineProgram {
  Geometry geometry;
  std::optional<Kernel> boxes;  // the kernel for tensors that the copy engine can read
  std::optional<Kernel> any;    // the one for all others: the same bits; none of a result without elements
  ConvArgs conv{};              // but for addresses, copies, stages
  BiasArgs bias{};
  std::int64_t slices = 1;
  std::int64_t workspace_bytes = 0;
  unsigned blocks = 0;
  Hardware hardware;
  std::string why;

  std::vector<Launch> launches(const Buffers& buffers) const;
};

// Called only without objection.
Program program_for(const Geometry& geometry, const Hardware& hardware);

}  // namespace convgrad::cuda

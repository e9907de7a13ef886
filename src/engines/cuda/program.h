// From a geometry to launches: which kernels run, on which parts, in which order. No device is asked for anything.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convgrad/plan.h"
#include "engines/cuda/fold.h"
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

// A copy of an operand that the copy engine can read (RepackArgs, FoldArgs), in the workspace.
struct PackedOperand {
  std::int64_t at = 0;        // bytes from the workspace's start
  std::int64_t channels = 0;  // with the zeros behind them
  std::int64_t plane = 0;     // elements of a plane
};

// Of f32 on warpgroup products, where the policy permits fewer bits than f32 has.
inline constexpr int kTf32Planes = 2;

struct Program final : EngineProgram {
  Geometry geometry;
  std::optional<Fold> fold;
  std::optional<Kernel> boxes;  // the kernel that reads tensors by the copy engine: as they are, or packed
  std::optional<Kernel> any;  // the one for tensors at any address, to the same bits, where not all of them are packed
  std::optional<PackedOperand> field, dense;
  int planes = 1;   // of bf16, in which packed f32 is stored
  ConvArgs conv{};  // but for addresses, copies, stages
  DirectArgs direct{};
  std::optional<StripArgs> strips;  // a depthwise convolution in strips; `pieces` where channels are whole pieces
  std::optional<Kernel> pieces;     // of aligned tensors, to the bits of `any`
  BiasArgs bias{};
  std::int64_t slices = 1;
  std::int64_t sums_at = 0;  // of the slices, or of a result with taps in its channels, in the workspace
  std::int64_t workspace_bytes = 0;
  unsigned blocks = 0;
  Hardware hardware;
  std::string why;
  std::vector<Launch> (*make_launches)(const Program&, const Buffers&) = nullptr;

  // What the kernels do, not what was asked.
  MathMode math() const { return planes == kTf32Planes ? MathMode::tf32 : MathMode::standard; }
  // The problem whose matrices are multiplied.
  const Geometry& product() const { return fold ? fold->product : geometry; }
  // The kernel that most of the time goes to, for tensors at aligned addresses.
  Kernel main_kernel() const { return boxes ? *boxes : pieces ? *pieces : *any; }
  std::vector<Launch> launches(const Buffers& buffers) const;
};

// Called only without objection. math: what the policy permits; canonical is asked of no GPU.
Program program_for(const Geometry& geometry, const Hardware& hardware, MathMode math = MathMode::standard);

}  // namespace convgrad::cuda

// An engine is a row: a name and a few functions. engines.inc lists them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "convgrad/plan.h"

namespace convgrad {

// Tensors an engine may trust: contiguous, aligned to their type, of the plan's shapes and dtype,
// the result apart from the operands, the workspace at least plan.workspace_bytes and 64-byte aligned.
// Where they lie in a GPU's memory (plan.place), the workspace may be null.
struct EngineArgs {
  const void* first;
  const void* second;  // null for bias_grad
  void* result;
  void* workspace;
  void* stream = nullptr;  // RunArgs::stream
};

// A plan of the engine and what to run it on.
struct EngineRun {
  const Plan& plan;
  EngineArgs args;
};

// All gradients of one layer, with the same dy: plans, and runs of them.
struct GradientPlans {
  const Plan &input, &filter, &bias;
};
struct EngineGradients {
  EngineRun input, filter, bias;
};

struct Engine {
  std::string_view name;
  std::string_view description;
  std::string (*obstacle)();                  // why it cannot run on this machine, a sentence; empty: it can
  std::string (*objection)(const Geometry&);  // why it cannot do the problem; empty: it can
  Result<Plan> (*propose)(const Geometry&, const Policy&);  // called only without obstacle and objection
  Status (*run)(const Plan&, const EngineArgs&, const Policy&);
  // All gradients in one go, to the bits of three runs, where that is cheaper; null: never.
  bool (*gains_together)(const GradientPlans&) = nullptr;
  Status (*run_gradients)(const EngineGradients&, const Policy&) = nullptr;  // only where they gain
  // Where it computes. An engine of a GPU takes host tensors, too, but only by name: else a caller's bits would change
  // with the machine, and small problems would wait for their copies.
  Memory home = Memory::host;
};

std::span<const Engine> engines();

}  // namespace convgrad

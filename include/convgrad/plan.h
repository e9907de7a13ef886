// Plan: what will be run and why, as pure data. Make one, look at it, run it as often as you like.
//
//   auto problem = convgrad::parse_problem("n2c16h9w9_k8r3s3_st2_same_f32_filter_grad").value();
//   auto plan = convgrad::make_plan(problem).value();
//   convgrad::Status done = convgrad::run(plan, {x, dy, dw.mutable_view()});
#ifndef CONVGRAD_PLAN_H_
#define CONVGRAD_PLAN_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convgrad/export.h"
#include "convgrad/geometry.h"
#include "convgrad/knobs.h"
#include "convgrad/math_mode.h"
#include "convgrad/status.h"
#include "convgrad/tensor.h"
#include "convgrad/threads.h"

namespace convgrad {

// Where a run's tensors and workspace lie: in this process's memory, or in the memory of a GPU.
enum class Memory : int { host = 0, cuda = 1 };
struct Place {
  Memory memory = Memory::host;
  int device = 0;  // the GPU's number, as CUDA counts; with engine "cuda" also for tensors of the host
  bool operator==(const Place&) const = default;
};
// The refusal of a tensor that lies elsewhere, for callers that know where theirs lie.
CONVGRAD_API Status wrong_place(std::string_view argument, const Place& got, const Place& wanted);

// What a caller may ask of the planner. No field but engine, place, math, and a knob that says so, may change a
// result's bits.
struct Policy {
  std::string engine = {};                               // by name; empty: the cheapest
  int threads = 0;                                       // 0: one a core this process may use; at most kMaxThreads
  std::int64_t workspace_limit = std::int64_t{1} << 40;  // bytes
  MathMode math = MathMode::standard;                    // what engines may do; the plan says what they do
  std::optional<Knobs> knobs = {};  // unset: those of the file that the environment variable CONVGRAD_TUNE_FILE names
  Limits limits = {};
  ParallelFor parallel_for = {};              // used instead of the own pool when set
  const std::atomic<bool>* cancel = nullptr;  // looked at between chunks of work
  Place place = {};                           // for plans; run() goes by the plan's
};

// What an engine worked out for a plan; opaque, immutable, shared by the plan's copies.
struct EngineProgram {
  virtual ~EngineProgram() = default;
};

// Immutable once made; copy it, cache it, share it between threads.
struct Plan {
  Geometry geometry;
  std::string engine;
  std::string kernel;
  MathMode math = MathMode::canonical;  // what the kernel does, not what was asked
  std::int64_t chunk = 0;               // result elements in one unit of work; 0: units are cut otherwise
  std::int64_t slices = 1;              // fixed parts a long sum is split into; from the problem alone
  std::int64_t workspace_bytes = 0;
  double cost_us = 0;  // estimate, on one core or on the GPU
  std::string why;
  std::string tuned;  // the knobs it was made with; empty: the engine's own
  Place place = {};   // where run() finds tensors and workspace
  std::shared_ptr<const EngineProgram> program = {};
};

// One engine's answer to a problem: a plan, or the reason it has none.
struct Proposal {
  std::string engine;
  Result<Plan> plan;
  bool chosen = false;
};

CONVGRAD_API Result<Plan> make_plan(const Geometry& geometry, const Policy& policy = {});
CONVGRAD_API Result<Plan> make_plan(const ConvProblem& problem, const Policy& policy = {});
// All engines' proposals, the chosen one marked.
CONVGRAD_API std::vector<Proposal> proposals(const Geometry& geometry, const Policy& policy = {});
// The same as readable text.
CONVGRAD_API Result<std::string> explain(const ConvProblem& problem, const Policy& policy = {});

// The line that gives this geometry these knobs on this machine, for a file that CONVGRAD_TUNE_FILE names. A file
// that cannot be used changes no plan but for its `why`, which says so.
CONVGRAD_API std::string tune_line(const Geometry& geometry, const Knobs& knobs);

struct Workspace {
  void* data = nullptr;
  std::size_t bytes = 0;
};

// first and second follow operands(geometry): (input, filter) forward, (filter, out_backprop) for
// the input gradient, (input, out_backprop) for the filter gradient; bias_grad has out_backprop
// alone. result must not share memory with them. With a workspace of plan.workspace_bytes and
// contiguous, aligned tensors nothing is allocated.
//
// For a plan whose place is a GPU's memory, all of these are addresses there: contiguous tensors, aligned to
// their type (fastest: to 16 bytes); others are refused, never copied. run() only adds the work to `stream` and
// returns: the tensors must live until the work is done. With a workspace it takes no memory of the device and waits
// for nothing, so that it can be captured into a CUDA graph.
struct RunArgs {
  TensorView first = {};
  TensorView second = {};
  MutableTensorView result = {};
  Workspace workspace = {};
  void* stream = nullptr;  // a CUstream or cudaStream_t of the plan's device; null: its default stream
};

// Writes every element of the result. Thread-safe; the same bits for any policy.
CONVGRAD_API Status run(const Plan& plan, const RunArgs& args, const Policy& policy = {});

struct EngineInfo {
  std::string name;
  std::string description;
  std::string obstacle;  // why it cannot run on this machine; empty: it can
};
CONVGRAD_API std::vector<EngineInfo> all_engines();
// Refuses a name that no engine has, and an engine that cannot run on this machine, as every plan for it would be. No
// name (the cheapest) passes. For callers that know the name before there is a problem.
CONVGRAD_API Status check_engine(std::string_view name);

}  // namespace convgrad

#endif  // CONVGRAD_PLAN_H_

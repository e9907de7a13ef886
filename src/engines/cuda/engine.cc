// The CUDA engine's row: a program's launches, on tensors of the host by way of copies, or in place.
#include <typeinfo>

#include "base/rules.h"
#include "base/text.h"
#include "engines/cuda/program.h"
#include "engines/cuda/runtime/device.h"
#include "engines/engine.h"
#include "engines/spread.h"
#include "geometry/shapes.h"

namespace convgrad::cuda {
namespace {

struct TensorBytes {
  std::size_t first = 0, second = 0, result = 0;
};

TensorBytes bytes_of(const Geometry& g) {
  const FixedOperands operands = fixed_operands(g);
  const auto bytes = [&](const FixedShape& shape) {
    return static_cast<std::size_t>(shape.elements()) * size_of(g.dtype);
  };
  return {bytes(operands.operand[0].shape), operands.count > 1 ? bytes(operands.operand[1].shape) : 0,
          bytes(fixed_result_shape(g))};
}

// Orders of magnitude alone: engines are compared by it, and a GPU is used by name or by place. Copies over PCIe at
// 20 GB/s and 20 us; on the device 1 TB/s, and 10 Tflop/s, which every kernel reaches on an H200.
double cost_us(const Geometry& g, Memory memory) {
  const TensorBytes bytes = bytes_of(g);
  const auto all = static_cast<double>(bytes.first + bytes.second + bytes.result);
  const double copies = memory == Memory::host ? 20 + all / 20e3 : 0;
  return copies + 5 + std::max(all / 1e6, nominal_flops(g) / 10e6);
}

Status keeps_the_order_of_cpus(const Policy& policy) {
  if (policy.math != MathMode::canonical) return {};
  return refuse("policy", {.rule = Rule::policy,
                           .argument = "math",
                           .reason = "canonical results have the order of sums of CPUs, and a GPU has its own",
                           .got = "canonical",
                           .wanted = "standard"});
}

Result<Plan> propose(const Geometry& g, const Policy& policy) {
  CONVGRAD_RETURN_IF_ERROR(keeps_the_order_of_cpus(policy));
  const Result<DeviceFacts> facts = device_facts(policy.place.device);
  if (!facts.ok()) return facts.status();
  const Hardware hardware{.hopper = facts->major == 9, .shared_bytes = static_cast<unsigned>(facts->shared_bytes)};
  const auto program = std::make_shared<Program>(program_for(g, hardware, policy.math));
  const bool in_place = policy.place.memory == Memory::cuda;
  Plan plan;
  plan.geometry = g;
  plan.engine = "cuda";
  plan.kernel = info(program->main_kernel()).name;
  plan.math = program->math();
  plan.slices = program->slices;
  plan.workspace_bytes = in_place ? program->workspace_bytes : 0;  // a host's caller has none of the device's memory
  plan.cost_us = cost_us(g, policy.place.memory);
  plan.why = concat(program->why, in_place ? "; tensors where they lie on " : "; tensors copied to and from ",
                    facts->name, ", GPU ", policy.place.device, " with ", facts->multiprocessors, " multiprocessors");
  plan.place = policy.place;
  plan.program = program;
  return plan;
}

// A plan is public data: what its program was made for must still be what it says.
const Program* program_in(const Plan& plan) {
  const EngineProgram* given = plan.program.get();
  if (given == nullptr || typeid(*given) != typeid(Program)) return nullptr;
  const auto* program = static_cast<const Program*>(given);
  const bool fits = plan.place.memory == Memory::host || plan.workspace_bytes >= program->workspace_bytes;
  return fits && program->geometry == plan.geometry ? program : nullptr;
}

Status changed_plan() {
  return refuse("run", {.rule = Rule::engine_name,
                        .argument = "plan",
                        .reason = "the plan is not as make_plan() gave it",
                        .got = "a plan with another geometry, workspace or program",
                        .wanted = "a plan from make_plan()"});
}

Status launch_all(const Device& device, const Program& program, const Buffers& buffers, CUstream stream) {
  for (const Launch& launch : program.launches(buffers)) CONVGRAD_RETURN_IF_ERROR(device.launch(launch, stream));
  return {};
}

Status are_reachable(const Device& device, const Program& program, const EngineArgs& args) {
  const FixedOperands operands = fixed_operands(program.geometry);
  const TensorBytes bytes = bytes_of(program.geometry);
  const bool has_workspace = program.workspace_bytes > 0 && args.workspace != nullptr;
  if (bytes.first > 0) CONVGRAD_RETURN_IF_ERROR(is_reachable(device, operands.operand[0].name, args.first));
  if (bytes.second > 0) CONVGRAD_RETURN_IF_ERROR(is_reachable(device, operands.operand[1].name, args.second));
  if (bytes.result > 0) CONVGRAD_RETURN_IF_ERROR(is_reachable(device, "result", args.result));
  return has_workspace ? is_reachable(device, "workspace", args.workspace) : Status();
}

// Adds the launches to the caller's stream and waits for nothing.
Status run_in_place(const Device& device, const Program& program, const EngineArgs& args) {
  CONVGRAD_RETURN_IF_ERROR(are_reachable(device, program, args));
  const auto stream = static_cast<CUstream>(args.stream);
  const std::size_t missing = args.workspace == nullptr ? static_cast<std::size_t>(program.workspace_bytes) : 0;
  const Result<Buffer> scratch = allocate(device, missing, stream);
  if (!scratch.ok()) return scratch.status();
  void* const workspace = args.workspace != nullptr ? args.workspace : scratch->get();
  return launch_all(device, program, {args.first, args.second, args.result, workspace}, stream);
}

// Tensors and workspace, one after another in one piece of the device's memory.
struct Offsets {
  std::size_t second, result, workspace, bytes;
};

Offsets offsets_of(const TensorBytes& bytes, const Program& program) {
  constexpr std::size_t kStep = 256;  // as the driver itself aligns
  const auto after = [](std::size_t offset, std::size_t size) { return (offset + size + kStep - 1) / kStep * kStep; };
  Offsets at{};
  at.second = after(0, bytes.first);
  at.result = after(at.second, bytes.second);
  at.workspace = after(at.result, bytes.result);
  at.bytes = at.workspace + static_cast<std::size_t>(program.workspace_bytes);
  return at;
}

template <class Byte, class Pointer>
std::span<Byte> as_bytes(Pointer* data, std::size_t count) {
  return {static_cast<Byte*>(data), count};
}

Status copy_and_launch(const Device& device, const Program& program, const EngineArgs& args, CUstream stream) {
  const TensorBytes bytes = bytes_of(program.geometry);
  const Offsets at = offsets_of(bytes, program);
  const Result<Buffer> memory = allocate(device, at.bytes, stream);
  if (!memory.ok()) return memory.status();
  auto* const base = static_cast<std::byte*>(memory->get());
  const Buffers there{base, base + at.second, base + at.result, base + at.workspace};
  CONVGRAD_RETURN_IF_ERROR(copy_in(device, base, as_bytes<const std::byte>(args.first, bytes.first), stream));
  CONVGRAD_RETURN_IF_ERROR(
      copy_in(device, base + at.second, as_bytes<const std::byte>(args.second, bytes.second), stream));
  CONVGRAD_RETURN_IF_ERROR(launch_all(device, program, there, stream));
  return copy_out(device, as_bytes<std::byte>(args.result, bytes.result), there.result, stream);
}

// Waits even after a failure: copies under way read the caller's memory.
Status run_with_copies(const Device& device, const Program& program, const EngineArgs& args) {
  const Result<Stream> stream = make_stream(device);
  if (!stream.ok()) return stream.status();
  const Status done = copy_and_launch(device, program, args, stream->get());
  const Status waited = wait(device, stream->get());
  return done.ok() ? waited : done;
}

Status run(const Plan& plan, const EngineArgs& args, const Policy& policy) {
  const Program* const program = program_in(plan);
  if (program == nullptr) return changed_plan();
  CONVGRAD_RETURN_IF_ERROR(go_on(policy));
  const Result<const Device*> device = Device::of(plan.place.device);
  if (!device.ok()) return device.status();
  const InContext current(**device);
  CONVGRAD_RETURN_IF_ERROR(current.status());
  return plan.place.memory == Memory::cuda ? run_in_place(**device, *program, args)
                                           : run_with_copies(**device, *program, args);
}

}  // namespace
}  // namespace convgrad::cuda

namespace convgrad {

Engine engine_cuda() {
  return {.name = "cuda",
          .description = "NVIDIA GPUs of compute capability 8.0 and up; by name, or for tensors in their memory",
          .obstacle = cuda::obstacle,
          .objection = cuda::objection,
          .propose = cuda::propose,
          .run = cuda::run,
          .home = Memory::cuda};
}

}  // namespace convgrad

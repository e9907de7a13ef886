#include "cli/bench_tensors.h"

#include <fmt/core.h>

#include <cstdlib>
#include <vector>

#include "cli/answer.h"
#include "cli/operands.h"
#include "cli/stopwatch.h"
#include "convgrad/system.h"

namespace convgrad::cli {
namespace {

constexpr std::uint64_t kSeed = 0;

}  // namespace

RunArgs CellTensors::args(const Plan& plan) {
  return {first, second, result.mutable_view(), {workspace.data(), static_cast<std::size_t>(plan.workspace_bytes)}};
}

Status CellTensors::grow_workspace(std::int64_t bytes) {
  if (workspace.bytes() > bytes) return {};
  Result<Tensor> made = Tensor::zeros(DType::f64, {bytes / 8 + 1});
  if (made.ok()) workspace = std::move(*made);
  return made.status();
}

Result<CellTensors> tensors_of(const Plan& plan) {
  const Geometry& geometry = plan.geometry;
  const std::vector<Operand> read = operands(geometry);
  Result<Tensor> first = random_operand(geometry.dtype, read[0].shape, kSeed, 0);
  if (!first.ok()) return first.status();
  Result<Tensor> second = random_operand(geometry.dtype, read[1].shape, kSeed, 1);
  if (!second.ok()) return second.status();
  Result<Tensor> result = Tensor::zeros(geometry.dtype, result_shape(geometry));
  if (!result.ok()) return result.status();
  CellTensors tensors{std::move(*first), std::move(*second), std::move(*result), {}};
  CONVGRAD_RETURN_IF_ERROR(tensors.grow_workspace(plan.workspace_bytes));
  return tensors;
}

Result<double> timed_call(const Plan& plan, const RunArgs& args, const Policy& policy) {
  const Stopwatch stopwatch(policy.threads);
  CONVGRAD_RETURN_IF_ERROR(run(plan, args, policy));
  return stopwatch.seconds() * 1e3;
}

Status use_isa(const std::string& name) {
  if (name.empty()) return {};
  setenv("CONVGRAD_ISA", name.c_str(), 1);
  if (cpu_isa() == name) return {};
  return complain({.rule = "engine-name",
                   .argument = "--isa",
                   .reason = fmt::format("{} is no instruction set that this CPU runs", in_quotes(name)),
                   .got = in_quotes(name),
                   .wanted = "one that a kernel's name ends in"});
}

}  // namespace convgrad::cli

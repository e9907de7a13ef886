// convgrad run PROBLEM: computes one problem on operands from files or from a seed.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/npy.h"
#include "cli/numbers.h"
#include "cli/operands.h"
#include "cli/pages.h"
#include "cli/policy.h"
#include "cli/run_graph.h"

namespace convgrad::cli {
namespace {

constexpr std::int64_t kShownValues = 8;

// What is to be run, after everything but the operands has been looked at.
struct Prepared {
  std::string problem;
  Policy policy;
  std::uint64_t seed = 0;
  Plan plan;
};

struct Computed {
  Tensor result;
  double milliseconds = 0;
};

// Of all elements; NaN as soon as one of them is.
struct Range {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double mean = 0;
};

struct SizedTensor {
  std::string_view name;
  Shape shape;
  std::int64_t bytes = 0;
};

std::vector<SizedTensor> tensors_of(const Geometry& geometry) {
  std::vector<SizedTensor> tensors;
  for (Operand& operand : operands(geometry)) tensors.push_back({operand.name, std::move(operand.shape)});
  tensors.push_back({"result", result_shape(geometry)});
  for (SizedTensor& tensor : tensors) {
    tensor.bytes = *element_count(tensor.shape) * static_cast<std::int64_t>(size_of(geometry.dtype));
  }
  return tensors;
}

Result<Prepared> prepare(const RunRequest& request) {
  const Result<ConvProblem> problem = parse_problem(request.subject);
  if (!problem.ok()) return problem.status();
  Result<Policy> policy = policy_of(request.policy);
  if (!policy.ok()) return policy.status();
  policy->cancel = cancel_on_interrupt();
  const Result<std::uint64_t> seed = parse_seed(request.seed);
  if (!seed.ok()) return seed.status();
  const Result<Plan> plan = make_plan(*problem, *policy);
  if (!plan.ok()) return plan.status();
  if (!request.second.empty() && operands(plan->geometry).size() < 2) {
    return complain({.rule = "operand-data",
                     .argument = "--second",
                     .reason = fmt::format("{} reads one tensor", name(problem->direction)),
                     .got = in_quotes(request.second),
                     .wanted = "no second file"});
  }
  return Prepared{to_text(*problem), *policy, *seed, *plan};
}

Result<graph::Tensor> operand(const Prepared& prepared, const std::string& path, int index) {
  const Geometry& geometry = prepared.plan.geometry;
  if (!path.empty()) return read_npy(path, geometry.dtype, index == 0 ? "--first" : "--second");
  const Result<Tensor> made =
      random_operand(geometry.dtype, operands(geometry)[static_cast<std::size_t>(index)].shape, prepared.seed, index);
  if (!made.ok()) return made.status();
  return graph::Tensor::from(*made);
}

Result<Computed> compute(const Prepared& prepared, const RunRequest& request) {
  const Result<graph::Tensor> first = operand(prepared, request.first, 0);
  if (!first.ok()) return first.status();
  Result<graph::Tensor> second = graph::Tensor();
  if (operands(prepared.plan.geometry).size() == 2) second = operand(prepared, request.second, 1);
  if (!second.ok()) return second.status();
  Result<Tensor> result = Tensor::zeros(prepared.plan.geometry.dtype, result_shape(prepared.plan.geometry));
  if (!result.ok()) return result.status();
  const RunArgs args{*first->view(), *second->view(), result->mutable_view(), {}};
  const auto start = std::chrono::steady_clock::now();
  CONVGRAD_RETURN_IF_ERROR(run(prepared.plan, args, prepared.policy));
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  return Computed{std::move(*result), taken.count()};
}

Range range_of(const Tensor& tensor) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  Range range;
  visit(tensor.dtype(), [&]<class T>(T) {
    for (T element : tensor.as<T>()) {
      const double value = static_cast<double>(element);
      if (std::isnan(value)) range.min = range.max = kNan;
      if (value < range.min) range.min = value;
      if (value > range.max) range.max = value;
      range.mean += value;
    }
  });
  range.mean /= static_cast<double>(tensor.size());
  return range;
}

// A 16-bit or 32-bit float in the fewest digits that name it; 64 bits would show its rounding.
std::string value_text(DType dtype, double value) {
  return dtype == DType::f64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
}

std::vector<double> first_values(const Tensor& tensor) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < std::min(tensor.size(), kShownValues); ++i) values.push_back(tensor.at(i));
  return values;
}

void print_plan(const Prepared& prepared) {
  fmt::print("problem        {}\n", prepared.problem);
  for (const SizedTensor& tensor : tensors_of(prepared.plan.geometry)) {
    fmt::print("{:<14} {} [{}] {} bytes\n", tensor.name, info(prepared.plan.geometry.dtype).id,
               fmt::join(tensor.shape, ","), tensor.bytes);
  }
  fmt::print("workspace      {} bytes\nengine         {}\nkernel         {}\nmath           {}\nwhy            {}\n",
             prepared.plan.workspace_bytes, prepared.plan.engine, prepared.plan.kernel, info(prepared.plan.math).name,
             prepared.plan.why);
}

Json plan_json(const Prepared& prepared) {
  Json tensors = Json::array();
  for (const SizedTensor& tensor : tensors_of(prepared.plan.geometry))
    tensors.push_back(Json{{"name", tensor.name}, {"shape", tensor.shape}, {"bytes", tensor.bytes}});
  return {{"ok", true},
          {"problem", prepared.problem},
          {"dtype", info(prepared.plan.geometry.dtype).id},
          {"tensors", tensors},
          {"workspace_bytes", prepared.plan.workspace_bytes},
          {"engine", prepared.plan.engine},
          {"kernel", prepared.plan.kernel},
          {"math", info(prepared.plan.math).name},
          {"why", prepared.plan.why}};
}

void print_result(const Prepared& prepared, const Computed& computed) {
  const Tensor& result = computed.result;
  const Range range = range_of(result);
  fmt::print("problem    {}\nresult     {} [{}]\n", prepared.problem, info(result.dtype()).id,
             fmt::join(result.shape(), ","));
  if (result.size() == 0) {
    fmt::print("values     none, the result is empty\n");
  } else {
    fmt::print("min        {}\nmax        {}\nmean       {:.9g}\nvalues    ", value_text(result.dtype(), range.min),
               value_text(result.dtype(), range.max), range.mean);
    for (double value : first_values(result)) fmt::print(" {}", value_text(result.dtype(), value));
    fmt::print("{}\n", result.size() > kShownValues ? " ..." : "");
  }
  fmt::print("engine     {}\nkernel     {}\ntime       {:.3f} ms\n", prepared.plan.engine, prepared.plan.kernel,
             computed.milliseconds);
}

// min, max and mean are null for an empty result and where they are no number.
Json result_json(const Prepared& prepared, const Computed& computed) {
  const Tensor& result = computed.result;
  const Range range = range_of(result);
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(); };
  return {{"ok", true},
          {"problem", prepared.problem},
          {"dtype", info(result.dtype()).id},
          {"result_shape", result.shape()},
          {"min", number(range.min)},
          {"max", number(range.max)},
          {"mean", number(range.mean)},
          {"values", first_values(result)},
          {"engine", prepared.plan.engine},
          {"kernel", prepared.plan.kernel},
          {"milliseconds", computed.milliseconds}};
}

int refuse_run(const Status& status, const RunRequest& request) {
  if (request.json) {
    Json json = status_json(status);
    json["problem"] = request.subject;
    print_json(json);
  }
  return refuse(status);
}

}  // namespace

int run_command(const RunRequest& request) {
  if (names_page(request.subject)) return run_graph(request);
  if (!request.fetch.empty() || !request.feed.empty())
    return refuse_usage(fmt::format("--fetch and --feed are for graph files, and {} is none: its name ends in .json",
                                    in_quotes(request.subject)));
  const Result<Prepared> prepared = prepare(request);
  if (!prepared.ok()) return refuse_run(prepared.status(), request);
  if (request.dry_run) {
    request.json ? print_json(plan_json(*prepared)) : print_plan(*prepared);
    return kOk;
  }
  const Result<Computed> computed = compute(*prepared, request);
  if (!computed.ok()) return refuse_run(computed.status(), request);
  if (!request.out.empty()) write_npy(request.out, computed->result);
  request.json ? print_json(result_json(*prepared, *computed)) : print_result(*prepared, *computed);
  return kOk;
}

}  // namespace convgrad::cli

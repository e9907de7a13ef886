// The reference loops as an engine: any problem, slow, the fallback nobody should need.
#include <algorithm>

#include "base/text.h"
#include "engines/engine.h"
#include "engines/spread.h"
#include "geometry/shapes.h"
#include "reference/reference.h"

namespace convgrad {
namespace {

// Measured on an Ice Lake Xeon at 2.8 GHz, one core: a multiply-add in double, and in __float128.
constexpr double kNanosecondsDouble = 1.5;
constexpr double kNanosecondsQuad = 60.0;
constexpr double kNanosecondsElement = 15.0;  // to find a result's coordinates
constexpr double kUnitMicroseconds = 50.0;    // long enough to hide handing a unit out

Result<Plan> propose(const Geometry& g, const Policy&) {
  Plan plan;
  plan.geometry = g;
  plan.engine = "reference";
  plan.kernel = concat("reference_", name(g.direction), "_", info(g.dtype).id);
  const double each = g.dtype == DType::f64 ? kNanosecondsQuad : kNanosecondsDouble;
  const std::int64_t count = fixed_result_shape(g).elements();
  plan.cost_us = (nominal_flops(g) / 2.0 * each + static_cast<double>(count) * kNanosecondsElement) * 1e-3;
  const double units = std::max(1.0, plan.cost_us / kUnitMicroseconds);
  plan.chunk = std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(count) / units));
  plan.why = "plain loops over the definition, sums in twice the working precision, one result element at a time";
  return plan;
}

struct Job {
  const Plan& plan;
  reference::Args args;
  std::int64_t count;
};

Status run(const Plan& plan, const EngineArgs& args, const Policy& policy) {
  Job job{plan, {args.first, args.second, args.result}, fixed_result_shape(plan.geometry).elements()};
  const auto unit = [](void* context, std::int64_t index) {
    const Job& j = *static_cast<Job*>(context);
    const std::int64_t begin = index * j.plan.chunk;
    reference::compute(j.plan.geometry, j.args, begin, std::min(begin + j.plan.chunk, j.count));
  };
  return spread(policy, {(job.count + plan.chunk - 1) / plan.chunk, unit, &job});
}

}  // namespace

Engine engine_reference() {
  return {.name = "reference",
          .description = "plain loops in wide precision; every problem, the truth for every test",
          .obstacle = [] { return std::string(); },
          .objection = [](const Geometry&) { return std::string(); },
          .propose = propose,
          .run = run};
}

}  // namespace convgrad

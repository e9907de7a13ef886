// Asks every engine for a plan and keeps the cheapest that the policy allows.
#include <algorithm>

#include "base/knobs.h"
#include "base/math_mode.h"
#include "base/rules.h"
#include "base/text.h"
#include "convgrad/plan.h"
#include "engines/engine.h"
#include "planner/cache.h"
#include "planner/tune_file.h"

namespace convgrad {
namespace {

Status policy_in_range(const Policy& policy) {
  if (policy.threads < 0 || policy.threads > kMaxThreads) {
    return refuse("policy", {.rule = Rule::policy,
                             .argument = "threads",
                             .reason = "the thread count is out of range",
                             .got = concat(policy.threads),
                             .wanted = concat("0 (one a core) to ", kMaxThreads)});
  }
  if (policy.workspace_limit < 0) {
    return refuse("policy", {.rule = Rule::policy,
                             .argument = "workspace_limit",
                             .reason = "the workspace limit is negative",
                             .got = concat(policy.workspace_limit),
                             .wanted = "0 bytes or more"});
  }
  if (policy.place.memory != Memory::host && policy.place.memory != Memory::cuda) {
    return refuse("policy", {.rule = Rule::policy,
                             .argument = "place",
                             .reason = "there is no such memory",
                             .got = concat(static_cast<int>(policy.place.memory)),
                             .wanted = "Memory::host or Memory::cuda"});
  }
  CONVGRAD_RETURN_IF_ERROR(math_in_range(policy.math));
  if (policy.knobs) return knobs_in_range(*policy.knobs);
  return {};
}

// Why an engine is not asked for a plan, before anything of its device is touched; empty: it is.
std::string out_of_the_question(const Engine& engine, const Policy& policy) {
  if (policy.place.memory == engine.home) return {};
  if (policy.place.memory != Memory::host)
    return concat("engine ", engine.name, " cannot reach tensors in a GPU's memory");
  if (policy.engine == engine.name) return {};
  return concat("tensors of the host stay on the CPU unless engine ", engine.name, " is asked for by name");
}

Status refuse_engine(std::string_view engine, std::string reason) {
  std::string names;
  for (const Engine& row : engines()) names += concat(names.empty() ? "" : ", ", row.name);
  return refuse("policy", {.rule = Rule::engine_name,
                           .argument = "engine",
                           .reason = std::move(reason),
                           .got = concat("\"", beginning(engine, 40), "\""),
                           .wanted = concat("one of: ", names),
                           .code = StatusCode::unimplemented});
}

Status no_such_engine(std::string_view name) { return refuse_engine(name, "there is no such engine"); }

Status runs_here(const Engine& engine) {
  const std::string obstacle = engine.obstacle();
  if (obstacle.empty()) return {};
  return refuse_engine(engine.name, concat("engine ", engine.name, " cannot run on this machine: ", obstacle));
}

Result<Plan> ask(const Engine& engine, const Geometry& geometry, const Policy& policy) {
  CONVGRAD_RETURN_IF_ERROR(policy_in_range(policy));
  if (std::string reason = out_of_the_question(engine, policy); !reason.empty())
    return refuse_engine(engine.name, std::move(reason));
  CONVGRAD_RETURN_IF_ERROR(runs_here(engine));
  if (std::string objection = engine.objection(geometry); !objection.empty())
    return refuse_engine(engine.name, std::move(objection));
  Result<Plan> plan = engine.propose(geometry, policy);
  if (plan.ok() && plan->workspace_bytes > policy.workspace_limit) {
    return refuse("policy", {.rule = Rule::workspace,
                             .argument = "workspace_limit",
                             .reason = concat("engine ", engine.name, " needs more workspace than the policy allows"),
                             .got = concat(policy.workspace_limit, " bytes"),
                             .wanted = concat(plan->workspace_bytes, " bytes"),
                             .code = StatusCode::resource_exhausted});
  }
  return plan;
}

bool wanted(const Engine& engine, const Policy& policy) {
  return policy.engine.empty() || policy.engine == engine.name;
}

// The engine whose refusal is the call's: the one asked for, or the one that reaches the place; empty: there are more.
std::string_view only_engine(const Policy& policy) {
  if (!policy.engine.empty()) return policy.engine;
  std::string_view only;
  for (const Engine& engine : engines()) {
    if (!out_of_the_question(engine, policy).empty()) continue;
    if (!only.empty()) return {};
    only = engine.name;
  }
  return only;
}

std::vector<Proposal> ask_all(const Geometry& geometry, const Policy& policy) {
  std::vector<Proposal> all;
  Proposal* cheapest = nullptr;
  all.reserve(engines().size());  // keeps `cheapest` valid
  for (const Engine& engine : engines()) {
    Proposal& proposal = all.emplace_back(Proposal{std::string(engine.name), ask(engine, geometry, policy)});
    if (!proposal.plan.ok() || !wanted(engine, policy)) continue;
    if (cheapest == nullptr || proposal.plan->cost_us < cheapest->plan->cost_us) cheapest = &proposal;
  }
  if (cheapest != nullptr) cheapest->chosen = true;
  return all;
}

std::vector<Proposal> ask_all(const Geometry& geometry, Policy policy, const TuneFile& file) {
  const auto line = file.knobs.find(to_text(problem_of(geometry)));
  if (line != file.knobs.end()) policy.knobs = line->second;
  std::vector<Proposal> all = ask_all(geometry, policy);
  for (Proposal& proposal : all) {
    if (!file.complaint.empty() && proposal.plan.ok())
      proposal.plan->why += concat("; the file that CONVGRAD_TUNE_FILE names is not used: ", file.complaint);
  }
  return all;
}

}  // namespace

std::vector<Proposal> proposals(const Geometry& geometry, const Policy& policy) {
  const TuneFile* file = policy.knobs ? nullptr : tune_file();
  return file != nullptr ? ask_all(geometry, policy, *file) : ask_all(geometry, policy);
}

Result<Plan> make_plan(const Geometry& geometry, const Policy& policy) {
  CONVGRAD_RETURN_IF_ERROR(policy_in_range(policy));
  if (std::optional<Plan> plan = remembered(geometry, policy)) return std::move(*plan);
  const std::string_view only = only_engine(policy);
  for (Proposal& proposal : proposals(geometry, policy)) {
    if (proposal.chosen) {
      remember(geometry, policy, *proposal.plan);
      return std::move(proposal.plan);
    }
    if (only == proposal.engine) return proposal.plan.status();
  }
  if (!policy.engine.empty()) return no_such_engine(policy.engine);
  return refuse_engine({}, "no engine can do this problem within the policy");
}

Result<Plan> make_plan(const ConvProblem& problem, const Policy& policy) {
  const Result<Geometry> geometry = validate(problem, policy.limits);
  return geometry.ok() ? make_plan(*geometry, policy) : Result<Plan>(geometry.status());
}

Status check_engine(std::string_view name) {
  if (name.empty()) return {};
  const auto row = std::ranges::find(engines(), name, &Engine::name);
  return row != engines().end() ? runs_here(*row) : no_such_engine(name);
}

std::vector<EngineInfo> all_engines() {
  std::vector<EngineInfo> all;
  for (const Engine& row : engines())
    all.push_back({std::string(row.name), std::string(row.description), row.obstacle()});
  return all;
}

}  // namespace convgrad

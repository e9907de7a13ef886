// The C interface over the public C++ one. Nothing is decided here: arguments are carried over,
// statuses are carried back.
#include "convgrad/convgrad_c.h"

#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "convgrad/convgrad.h"

struct convgrad_plan {
  convgrad::Plan plan;
  convgrad::Policy policy;
  std::string description;
};

namespace {

using convgrad::ErrorDetail;
using convgrad::Result;
using convgrad::Status;
using convgrad::StatusCode;

thread_local Status t_last;

convgrad_status report(const Status& status) noexcept {
  if (!status.ok()) t_last = status;
  return static_cast<convgrad_status>(status.code());
}

// Every entry point runs inside: no exception crosses the boundary.
template <class Call>
convgrad_status guarded(const Call& call) noexcept {
  try {
    return report(call());
  } catch (const std::bad_alloc&) {
    return report(Status::out_of_memory());
  } catch (const std::exception& error) {
    return report(Status::internal(error.what()));
  } catch (...) {
    return report(Status::internal("an unknown exception was caught"));
  }
}

Status refuse(const char* argument, std::string got, std::string wanted, const char* rule = "operand-data") {
  std::string message = std::string(argument) + ": got " + got + ", wanted " + wanted;
  return Status(
      ErrorDetail{StatusCode::invalid_argument, std::move(message), argument, std::move(got), std::move(wanted), rule});
}

Status refuse_null(const char* argument) { return refuse(argument, "NULL", "an address"); }

// Reads a struct of any earlier or equal size; fields the caller does not know of stay zero.
template <class Struct>
Status read_struct(const char* argument, const Struct* given, Struct& known) {
  if (given == nullptr) return refuse_null(argument);
  if (given->struct_size < sizeof(std::size_t) || given->struct_size > sizeof(Struct)) {
    return refuse("struct_size", std::to_string(given->struct_size),
                  "sizeof the struct, at most " + std::to_string(sizeof(Struct)), "struct-size");
  }
  std::memset(static_cast<void*>(&known), 0, sizeof(known));
  std::memcpy(static_cast<void*>(&known), given, given->struct_size);
  return {};
}

Status read_numbers(const char* argument, const convgrad_numbers& given, convgrad::ConvCall::Numbers& list) {
  constexpr std::int64_t kMany = 1 << 20;
  if (given.count < 0 || given.count > kMany)
    return refuse(argument, std::to_string(given.count) + " entries", "0 to 1048576");
  if (given.values == nullptr && given.count != 0) return refuse_null(argument);
  list = {given.values, static_cast<std::size_t>(given.count)};
  return {};
}

Status read_shape(const char* argument, const convgrad_numbers& given,
                  std::optional<convgrad::ConvCall::Numbers>& shape) {
  if (given.values == nullptr && given.count == 0) return {};
  return read_numbers(argument, given, shape.emplace());
}

constexpr std::int64_t kOnes[] = {1, 1, 1, 1, 1};

Status read_or_ones(const char* argument, const convgrad_numbers& given, int rank, convgrad::ConvCall::Numbers& list) {
  if (given.values != nullptr || given.count != 0) return read_numbers(argument, given, list);
  list = {kOnes, static_cast<std::size_t>(rank) + 2};
  return {};
}

Status read_call(const convgrad_call* given, convgrad::ConvCall& call) {
  convgrad_call c;
  CONVGRAD_RETURN_IF_ERROR(read_struct("call", given, c));
  call.op = static_cast<convgrad::Op>(c.op);
  if (c.op < 0 || c.op >= CONVGRAD_OP_COUNT) return convgrad::validate(call).status();  // says what it wants
  const int rank = convgrad::info(call.op).rank;
  call.dtype = static_cast<convgrad::DType>(c.dtype);
  CONVGRAD_RETURN_IF_ERROR(read_shape("input", c.input, call.input));
  CONVGRAD_RETURN_IF_ERROR(read_shape("filter", c.filter, call.filter));
  CONVGRAD_RETURN_IF_ERROR(read_shape("out_backprop", c.out_backprop, call.out_backprop));
  CONVGRAD_RETURN_IF_ERROR(read_numbers("sizes", c.sizes, call.sizes));
  CONVGRAD_RETURN_IF_ERROR(read_or_ones("strides", c.strides, rank, call.strides));
  CONVGRAD_RETURN_IF_ERROR(read_or_ones("dilations", c.dilations, rank, call.dilations));
  CONVGRAD_RETURN_IF_ERROR(read_numbers("explicit_paddings", c.explicit_paddings, call.explicit_paddings));
  call.sizes_rank = c.sizes_rank == 0 ? 1 : c.sizes_rank < 0 ? 0 : c.sizes_rank;
  call.padding = c.padding != nullptr ? c.padding : "";
  call.data_format =
      c.data_format != nullptr ? c.data_format : convgrad::data_format(convgrad::Layout::channels_last, rank);
  return {};
}

Status read_policy(const convgrad_policy* given, convgrad::Policy& policy) {
  if (given == nullptr) return {};
  convgrad_policy p;
  CONVGRAD_RETURN_IF_ERROR(read_struct("policy", given, p));
  if (p.engine != nullptr) policy.engine = p.engine;
  policy.threads = p.threads;
  policy.math = static_cast<convgrad::MathMode>(p.math);
  if (p.workspace_limit != 0) policy.workspace_limit = p.workspace_limit;
  if (p.max_bytes != 0) policy.limits.max_bytes = p.max_bytes;
  policy.parallel_for = {p.parallel_for, p.parallel_for_context};
  policy.place = {static_cast<convgrad::Memory>(p.memory), p.device};
  return {};
}

Result<convgrad::Geometry> geometry_of(const convgrad_call* given, const convgrad::Limits& limits) {
  convgrad::ConvCall call;
  CONVGRAD_RETURN_IF_ERROR(read_call(given, call));
  return convgrad::validate(call, limits);
}

Result<convgrad::Geometry> geometry_of(const char* problem, const convgrad::Limits& limits) {
  if (problem == nullptr) return refuse_null("problem");
  const Result<convgrad::ConvProblem> parsed = convgrad::parse_problem(problem);
  return parsed.ok() ? convgrad::validate(*parsed, limits) : Result<convgrad::Geometry>(parsed.status());
}

template <class Source>
convgrad_status create(const Source* source, const convgrad_policy* given, convgrad_plan** plan) noexcept {
  if (plan != nullptr) *plan = nullptr;
  return guarded([&]() -> Status {
    if (plan == nullptr) return refuse_null("plan");
    convgrad::Policy policy;
    CONVGRAD_RETURN_IF_ERROR(read_policy(given, policy));
    const Result<convgrad::Geometry> geometry = geometry_of(source, policy.limits);
    if (!geometry.ok()) return geometry.status();
    Result<convgrad::Plan> made = convgrad::make_plan(*geometry, policy);
    if (!made.ok()) return made.status();
    std::string description = made->engine + ": " + made->kernel + ": " + made->why;
    *plan = new convgrad_plan{std::move(*made), std::move(policy), std::move(description)};
    return {};
  });
}

Status holds(const char* argument, std::size_t bytes, const convgrad::Shape& shape, convgrad::DType dtype) {
  const std::size_t wanted = static_cast<std::size_t>(*convgrad::element_count(shape)) * convgrad::size_of(dtype);
  return bytes >= wanted ? Status()
                         : refuse(argument, std::to_string(bytes) + " bytes", std::to_string(wanted) + " bytes");
}

Status run(const convgrad_plan& handle, const convgrad_buffers& b) {
  const convgrad::Geometry& geometry = handle.plan.geometry;
  const std::vector<convgrad::Operand> wanted = convgrad::operands(geometry);
  CONVGRAD_RETURN_IF_ERROR(holds("first", b.first_bytes, wanted[0].shape, geometry.dtype));
  convgrad::RunArgs args;
  args.first = {b.first, geometry.dtype, wanted[0].shape, {}};
  if (wanted.size() > 1) {
    CONVGRAD_RETURN_IF_ERROR(holds("second", b.second_bytes, wanted[1].shape, geometry.dtype));
    args.second = {b.second, geometry.dtype, wanted[1].shape, {}};
  }
  const convgrad::Shape result = convgrad::result_shape(geometry);
  CONVGRAD_RETURN_IF_ERROR(holds("result", b.result_bytes, result, geometry.dtype));
  args.result = {b.result, geometry.dtype, result, {}};
  args.workspace = {b.workspace, b.workspace_bytes};
  args.stream = b.stream;
  return convgrad::run(handle.plan, args, handle.policy);
}

}  // namespace

extern "C" {

const char* convgrad_version(void) { return CONVGRAD_VERSION_STRING; }
const char* convgrad_status_name(int32_t status) { return convgrad::name(static_cast<StatusCode>(status)); }

const char* convgrad_last_message(void) { return t_last.message().c_str(); }
const char* convgrad_last_argument(void) { return t_last.argument().c_str(); }
const char* convgrad_last_got(void) { return t_last.got().c_str(); }
const char* convgrad_last_wanted(void) { return t_last.wanted().c_str(); }
const char* convgrad_last_rule(void) { return t_last.rule().c_str(); }

int32_t convgrad_op_from_name(const char* name) {
  const std::optional<convgrad::Op> op = name != nullptr ? convgrad::op_from_name(name) : std::nullopt;
  return op ? static_cast<int32_t>(*op) : -1;
}

int32_t convgrad_dtype_from_name(const char* name) {
  const std::optional<convgrad::DType> dtype = name != nullptr ? convgrad::dtype_from_name(name) : std::nullopt;
  return dtype ? static_cast<int32_t>(*dtype) : -1;
}

convgrad_status convgrad_check(const convgrad_call* call) {
  return guarded([&] { return geometry_of(call, {}).status(); });
}

convgrad_status convgrad_check_problem(const char* problem) {
  return guarded([&] { return geometry_of(problem, {}).status(); });
}

convgrad_status convgrad_plan_create(const convgrad_call* call, const convgrad_policy* policy, convgrad_plan** plan) {
  return create(call, policy, plan);
}

convgrad_status convgrad_plan_create_from_problem(const char* problem, const convgrad_policy* policy,
                                                  convgrad_plan** plan) {
  return create(problem, policy, plan);
}

void convgrad_plan_destroy(convgrad_plan* plan) { delete plan; }

convgrad_status convgrad_plan_workspace_bytes(const convgrad_plan* plan, int64_t* bytes) {
  return guarded([&]() -> Status {
    if (plan == nullptr) return refuse_null("plan");
    if (bytes == nullptr) return refuse_null("bytes");
    *bytes = plan->plan.workspace_bytes;
    return {};
  });
}

convgrad_status convgrad_plan_result_shape(const convgrad_plan* plan, int64_t sizes[5], int32_t* rank) {
  return guarded([&]() -> Status {
    if (plan == nullptr) return refuse_null("plan");
    if (sizes == nullptr) return refuse_null("sizes");
    if (rank == nullptr) return refuse_null("rank");
    const convgrad::Shape shape = convgrad::result_shape(plan->plan.geometry);
    std::copy(shape.begin(), shape.end(), sizes);
    *rank = static_cast<int32_t>(shape.size());
    return {};
  });
}

const char* convgrad_plan_describe(const convgrad_plan* plan) {
  return plan != nullptr ? plan->description.c_str() : "";
}

convgrad_status convgrad_plan_run(const convgrad_plan* plan, const convgrad_buffers* buffers) {
  return guarded([&]() -> Status {
    if (plan == nullptr) return refuse_null("plan");
    convgrad_buffers known;
    CONVGRAD_RETURN_IF_ERROR(read_struct("buffers", buffers, known));
    return run(*plan, known);
  });
}

}  // extern "C"

// TensorFlow's codes and texts over convgrad::Status.
#include "convgrad/graph/status.h"

#include <utility>

namespace convgrad::graph {
namespace {

Code code_of(StatusCode code) {
  switch (code) {
    case StatusCode::ok: return Code::kOk;
    case StatusCode::invalid_argument: return Code::kInvalidArgument;
    case StatusCode::unimplemented: return Code::kUnimplemented;
    case StatusCode::resource_exhausted: return Code::kResourceExhausted;
    case StatusCode::internal: return Code::kInternal;
    case StatusCode::cancelled: return Code::kCancelled;
  }
  return Code::kUnknown;
}

StatusCode core_code(Code code) {
  switch (code) {
    case Code::kOk: return StatusCode::ok;
    case Code::kCancelled: return StatusCode::cancelled;
    case Code::kResourceExhausted: return StatusCode::resource_exhausted;
    case Code::kUnimplemented: return StatusCode::unimplemented;
    case Code::kInternal:
    case Code::kUnknown: return StatusCode::internal;
    default: return StatusCode::invalid_argument;
  }
}

const char* text_of(Code code) {
  switch (code) {
    case Code::kOk: return "OK";
#define CONVGRAD_GRAPH_CODE(name, NAME, number) \
  case Code::k##name: return #NAME;
#include "convgrad/graph/codes.inc"
  }
  return "UNKNOWN";
}

}  // namespace

Status::Status(Code code, std::string_view message) : code_(code) {
  if (code != Code::kOk)
    core_ = convgrad::Status(ErrorDetail{.code = core_code(code), .message = std::string(message)});
}

Status::Status(Code code, convgrad::Status core) : core_(std::move(core)), code_(code) {}

Status::Status(convgrad::Status core) : core_(std::move(core)), code_(code_of(core_.code())) {
  if (core_.rule() == "graph-variable") code_ = Code::kFailedPrecondition;
  if (core_.rule() == "graph-fetch") code_ = Code::kNotFound;
}

Code Status::code() const { return ok() ? Code::kOk : code_; }

std::string Status::ToString() const { return ok() ? "OK" : std::string(text_of(code_)) + ": " + message(); }

void Status::Update(const Status& other) {
  if (ok()) *this = other;
}

bool operator==(const Status& a, const Status& b) { return a.code() == b.code() && a.message() == b.message(); }

std::ostream& operator<<(std::ostream& out, const Status& status) { return out << status.ToString(); }

void fail(const Status& status) { throw Error(status.core()); }

}  // namespace convgrad::graph

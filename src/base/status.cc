#include "convgrad/status.h"

#include <new>

#include "base/rules.h"
#include "base/text.h"

namespace convgrad {
namespace {

std::shared_ptr<const ErrorDetail> memory_detail() {
  static const auto detail = std::make_shared<const ErrorDetail>(
      ErrorDetail{StatusCode::resource_exhausted, "out of memory: the machine has not the bytes this call needs",
                  "memory", "none left", "more memory or a smaller problem", "resource"});
  return detail;
}

// Made while there is still memory, at load time.
[[maybe_unused]] const auto kMemoryDetail = memory_detail();

constexpr std::string_view kRuleIds[] = {
#define CONVGRAD_RULE(name, id, meaning) id,
#include "convgrad/rules.inc"
#undef CONVGRAD_RULE
};

}  // namespace

const char* name(StatusCode code) {
  switch (code) {
    case StatusCode::ok: return "ok";
    case StatusCode::invalid_argument: return "invalid_argument";
    case StatusCode::unimplemented: return "unimplemented";
    case StatusCode::resource_exhausted: return "resource_exhausted";
    case StatusCode::internal: return "internal";
    case StatusCode::cancelled: return "cancelled";
  }
  return "unknown";
}

Status::Status(ErrorDetail detail)
    : detail_(detail.code == StatusCode::ok ? nullptr : std::make_shared<const ErrorDetail>(std::move(detail))) {}

Status Status::out_of_memory() noexcept {
  Status status;
  status.detail_ = memory_detail();
  return status;
}

Status Status::internal(std::string_view message) noexcept {
  try {
    return Status(ErrorDetail{StatusCode::internal, std::string(message), "", "", "", "internal"});
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

const ErrorDetail& Status::detail() const {
  static const ErrorDetail none{StatusCode::ok, "", "", "", "", ""};
  return ok() ? none : *detail_;
}

std::string_view id_of(Rule rule) { return kRuleIds[static_cast<int>(rule)]; }

Status refuse(std::string_view who, Refusal refusal) {
  std::string message = concat(who, ": ", refusal.reason, " (", refusal.argument, ": got ", refusal.got, ", wanted ",
                               refusal.wanted, ")");
  return Status(ErrorDetail{refusal.code, std::move(message), std::string(refusal.argument), std::move(refusal.got),
                            std::move(refusal.wanted), std::string(id_of(refusal.rule))});
}

Status at_node(const Status& status, const std::string& node) {
  if (status.ok() || !status.node().empty()) return status;
  return Status(ErrorDetail{.code = status.code(),
                            .message = concat(status.message(), "\n\t [[{{node ", node, "}}]]"),
                            .argument = status.argument(),
                            .got = status.got(),
                            .wanted = status.wanted(),
                            .rule = status.rule(),
                            .node = node});
}

}  // namespace convgrad

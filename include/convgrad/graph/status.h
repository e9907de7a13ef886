// Status as TensorFlow's C++ programs know it, under the names of both its eras, over convgrad::Status.
#ifndef CONVGRAD_GRAPH_STATUS_H_
#define CONVGRAD_GRAPH_STATUS_H_

#include <ostream>
#include <string>
#include <string_view>

#include "convgrad/export.h"
#include "convgrad/status.h"

namespace convgrad::graph {

// TensorFlow's code numbers; absl's spellings are the same values.
enum class Code : int {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kNotFound = 5,
  kAlreadyExists = 6,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
};
namespace error {
using Code = graph::Code;
inline constexpr Code OK = Code::kOk;
inline constexpr Code CANCELLED = Code::kCancelled;
inline constexpr Code UNKNOWN = Code::kUnknown;
inline constexpr Code INVALID_ARGUMENT = Code::kInvalidArgument;
inline constexpr Code NOT_FOUND = Code::kNotFound;
inline constexpr Code ALREADY_EXISTS = Code::kAlreadyExists;
inline constexpr Code RESOURCE_EXHAUSTED = Code::kResourceExhausted;
inline constexpr Code FAILED_PRECONDITION = Code::kFailedPrecondition;
inline constexpr Code OUT_OF_RANGE = Code::kOutOfRange;
inline constexpr Code UNIMPLEMENTED = Code::kUnimplemented;
inline constexpr Code INTERNAL = Code::kInternal;
}  // namespace error

class Status;
CONVGRAD_API bool operator==(const Status& a, const Status& b);

class [[nodiscard]] CONVGRAD_API Status {
 public:
  Status() = default;
  Status(Code code, std::string_view message);
  Status(convgrad::Status core);  // NOLINT: every refusal of the library is one of these

  static Status OK() { return {}; }
  bool ok() const { return core_.ok(); }
  Code code() const;
  const std::string& message() const { return core_.message(); }
  const std::string& error_message() const { return message(); }
  std::string ToString() const;  // "OK", or "INVALID_ARGUMENT: the sentence"
  // Keeps the first error.
  void Update(const Status& other);
  void IgnoreError() const {}

  // Argument, got, wanted, rule and node of a refusal.
  const convgrad::Status& core() const { return core_; }

  friend bool operator==(const Status& a, const Status& b);

 private:
  convgrad::Status core_;
  Code code_ = Code::kOk;  // where TensorFlow's codes say more than ours
};
CONVGRAD_API std::ostream& operator<<(std::ostream& out, const Status& status);
inline Status OkStatus() { return {}; }

// Where there is no way to return a Status (views of the wrong type, checked results): throws convgrad::Error.
[[noreturn]] CONVGRAD_API void fail(const Status& status);

}  // namespace convgrad::graph

#endif  // CONVGRAD_GRAPH_STATUS_H_

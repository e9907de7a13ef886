// Status as TensorFlow's C++ programs know it, under the names of both its eras, over convgrad::Status.
#ifndef CONVGRAD_GRAPH_STATUS_H_
#define CONVGRAD_GRAPH_STATUS_H_

#include <ostream>
#include <sstream>
#include <string>
#include <string_view>

#include "convgrad/export.h"
#include "convgrad/status.h"

namespace convgrad::graph {

// TensorFlow's code numbers, each under the spelling of both its eras: Code::kNotFound, Code::NOT_FOUND.
enum class Code : int {
  kOk = 0,
  OK = 0,
#define CONVGRAD_GRAPH_CODE(name, NAME, number) k##name = number, NAME = number,
#include "convgrad/graph/codes.inc"
};
namespace error {
using Code = graph::Code;
inline constexpr Code OK = Code::kOk;
#define CONVGRAD_GRAPH_CODE(name, NAME, number) inline constexpr Code NAME = Code::k##name;
#include "convgrad/graph/codes.inc"
}  // namespace error

class Status;
CONVGRAD_API bool operator==(const Status& a, const Status& b);

class [[nodiscard]] CONVGRAD_API Status {
 public:
  Status() = default;
  Status(Code code, std::string_view message);
  // A refusal of the library under a code of TensorFlow's.
  Status(Code code, convgrad::Status core);
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

// errors::NotFound("no node ", name): the parts joined as streams print them. errors::IsNotFound(status).
namespace errors {
template <class... Parts>
std::string joined(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}
#define CONVGRAD_GRAPH_CODE(name, NAME, number)             \
  template <class... Parts>                                 \
  Status name(const Parts&... parts) {                      \
    return Status(Code::k##name, errors::joined(parts...)); \
  }                                                         \
  inline bool Is##name(const Status& status) { return status.code() == Code::k##name; }
#include "convgrad/graph/codes.inc"
}  // namespace errors

// Where there is no way to return a Status (views of the wrong type, checked results): throws convgrad::Error.
[[noreturn]] CONVGRAD_API void fail(const Status& status);

}  // namespace convgrad::graph

#endif  // CONVGRAD_GRAPH_STATUS_H_

// Status: how every call answers. Result<T>: a value, or the Status that says why there is none.
//
// The library itself never throws, prints, exits or aborts on a caller's mistake. Result::value()
// throws convgrad::Error for those who prefer exceptions.
#ifndef CONVGRAD_STATUS_H_
#define CONVGRAD_STATUS_H_

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "convgrad/export.h"

namespace convgrad {

enum class StatusCode : int {
  ok = 0,
  invalid_argument = 1,    // the call can never work as written
  unimplemented = 2,       // the call has a meaning, but nothing here computes it
  resource_exhausted = 3,  // it needs more bytes than the limit or the machine gives
  internal = 4,            // our own mistake
  cancelled = 5,           // the caller's cancel flag was seen
};

CONVGRAD_API const char* name(StatusCode code);

// What went wrong, in parts and as one sentence.
struct ErrorDetail {
  StatusCode code = StatusCode::internal;
  std::string message = {};   // one sentence with all of the below
  std::string argument = {};  // the argument at fault, as the caller spells it
  std::string got = {};
  std::string wanted = {};
  std::string rule = {};  // id of the rule broken: a row of convgrad/rules.inc
  std::string node = {};  // of a graph, where it is about one
};

class [[nodiscard]] CONVGRAD_API Status {
 public:
  Status() = default;  // ok
  explicit Status(ErrorDetail detail);

  // Needs no memory of its own, so it can be made when there is none left.
  static Status out_of_memory() noexcept;
  static Status internal(std::string_view message) noexcept;

  bool ok() const { return detail_ == nullptr; }
  StatusCode code() const { return ok() ? StatusCode::ok : detail_->code; }
  const std::string& message() const { return detail().message; }
  const std::string& argument() const { return detail().argument; }
  const std::string& got() const { return detail().got; }
  const std::string& wanted() const { return detail().wanted; }
  const std::string& rule() const { return detail().rule; }
  const std::string& node() const { return detail().node; }

 private:
  const ErrorDetail& detail() const;
  std::shared_ptr<const ErrorDetail> detail_;
};

// Thrown by Result::value() and by nothing else.
class CONVGRAD_API Error : public std::exception {
 public:
  explicit Error(Status status) : status_(std::move(status)) {}
  const char* what() const noexcept override { return status_.message().c_str(); }
  const Status& status() const { return status_; }

 private:
  Status status_;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}                             // NOLINT: implicit by design
  Result(Status status) : status_(std::move(status)) { complain_if_ok(); }  // NOLINT

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  // Throws Error when there is no value.
  T& value() & { return check(), *value_; }
  const T& value() const& { return check(), *value_; }
  T&& value() && { return check(), std::move(*value_); }

  // The caller has looked at ok() before.
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  void check() const {
    if (!ok()) throw Error(status_);
  }
  void complain_if_ok() {
    if (status_.ok()) status_ = Status::internal("a Result was made from an ok Status");
  }
  std::optional<T> value_;
  Status status_;
};

// Leaves the enclosing function with the Status when it is not ok.
#define CONVGRAD_RETURN_IF_ERROR(expr)                                      \
  do {                                                                      \
    if (::convgrad::Status status_ = (expr); !status_.ok()) return status_; \
  } while (false)

}  // namespace convgrad

#endif  // CONVGRAD_STATUS_H_

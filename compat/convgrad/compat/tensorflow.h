// Behind every header of compat/tensorflow: TensorFlow's namespace over ours, and its two macros for a Status.
//
// LOG, VLOG and CHECK_* come with CONVGRAD_COMPAT_LOGGING, TF_EXPECT_OK and TF_ASSERT_OK with CONVGRAD_COMPAT_TESTING:
// glog and GoogleTest users have their own.
#ifndef CONVGRAD_COMPAT_TENSORFLOW_H_
#define CONVGRAD_COMPAT_TENSORFLOW_H_

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sstream>

#include "convgrad/graph.h"

namespace tensorflow {
using namespace convgrad::graph;
}

namespace convgrad::compat {

// Collects a message, and ends the process with it.
class Fatal {
 public:
  Fatal(const char* file, int line) { text_ << file << ":" << line << "] "; }
  ~Fatal() {
    std::fprintf(stderr, "%s\n", text_.str().c_str());
    std::abort();
  }
  Fatal(const Fatal&) = delete;
  Fatal& operator=(const Fatal&) = delete;
  std::ostream& stream() { return text_; }

 private:
  std::ostringstream text_;
};

inline std::optional<graph::Status> error_of(const graph::Status& status) {
  return status.ok() ? std::nullopt : std::optional(status);
}

}  // namespace convgrad::compat

// Ends the process when expr is not OK; more can be streamed into its last words.
#define TF_CHECK_OK(expr)                                                 \
  while (const auto convgrad_error_ = ::convgrad::compat::error_of(expr)) \
  ::convgrad::compat::Fatal(__FILE__, __LINE__).stream()                  \
      << "Non-OK-status: " #expr " status: " << *convgrad_error_ << " "
#define TF_QCHECK_OK(expr) TF_CHECK_OK(expr)

#define TF_RETURN_IF_ERROR(...)                                                                                      \
  do {                                                                                                               \
    if (::convgrad::graph::Status convgrad_status_ = (__VA_ARGS__); !convgrad_status_.ok()) return convgrad_status_; \
  } while (false)

#ifdef CONVGRAD_COMPAT_LOGGING
#include "convgrad/compat/logging.h"
#endif
#ifdef CONVGRAD_COMPAT_TESTING
#include "convgrad/compat/testing.h"
#endif

#endif  // CONVGRAD_COMPAT_TENSORFLOW_H_

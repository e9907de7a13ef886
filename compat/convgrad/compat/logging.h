// LOG(INFO), VLOG(1) and CHECK_EQ as TensorFlow's programs write them. A failed CHECK ends the process.
#ifndef CONVGRAD_COMPAT_LOGGING_H_
#define CONVGRAD_COMPAT_LOGGING_H_

#include "convgrad/compat/tensorflow.h"

namespace convgrad::compat {

// A line for the error stream, printed when the statement ends.
class Line {
 public:
  Line(char severity, const char* file, int line) { text_ << severity << " " << file << ":" << line << "] "; }
  ~Line() { std::fprintf(stderr, "%s\n", text_.str().c_str()); }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  std::ostream& stream() { return text_; }

 private:
  std::ostringstream text_;
};

}  // namespace convgrad::compat

#define CONVGRAD_LOG_INFO ::convgrad::compat::Line('I', __FILE__, __LINE__)
#define CONVGRAD_LOG_WARNING ::convgrad::compat::Line('W', __FILE__, __LINE__)
#define CONVGRAD_LOG_ERROR ::convgrad::compat::Line('E', __FILE__, __LINE__)
#define CONVGRAD_LOG_FATAL ::convgrad::compat::Fatal(__FILE__, __LINE__)
#define LOG(severity) CONVGRAD_LOG_##severity.stream()
#define VLOG(level) \
  while (false) LOG(INFO)

#define CHECK(condition) \
  while (!(condition)) LOG(FATAL) << "Check failed: " #condition " "
#define CONVGRAD_CHECK_OP(a, op, b) \
  while (!((a)op(b))) LOG(FATAL) << "Check failed: " #a " " #op " " #b " (" << (a) << " vs. " << (b) << ") "
#define CHECK_EQ(a, b) CONVGRAD_CHECK_OP(a, ==, b)
#define CHECK_NE(a, b) CONVGRAD_CHECK_OP(a, !=, b)
#define CHECK_LT(a, b) CONVGRAD_CHECK_OP(a, <, b)
#define CHECK_LE(a, b) CONVGRAD_CHECK_OP(a, <=, b)
#define CHECK_GT(a, b) CONVGRAD_CHECK_OP(a, >, b)
#define CHECK_GE(a, b) CONVGRAD_CHECK_OP(a, >=, b)

#endif  // CONVGRAD_COMPAT_LOGGING_H_

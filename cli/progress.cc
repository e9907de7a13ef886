// Drawn at most twenty times a second.
#include "cli/progress.h"

#include <fmt/core.h>

#include "cli/answer.h"

namespace convgrad::cli {
namespace {

constexpr int kBarWidth = 30;
constexpr auto kRedraw = std::chrono::milliseconds(50);
constexpr const char* kEraseLine = "\r\x1b[K";

}  // namespace

ProgressBar::~ProgressBar() {
  if (drawn_) fmt::print(stderr, "{}", kEraseLine);
}

void ProgressBar::draw(const graph::RunProgress& progress) {
  const auto now = std::chrono::steady_clock::now();
  if (!shown_ || (now - last_ < kRedraw && progress.done < progress.total)) return;
  last_ = now;
  drawn_ = true;
  const int filled = progress.total == 0 ? 0 : kBarWidth * progress.done / progress.total;
  fmt::print(stderr, "{}[{:<{}}] {}/{} {}", kEraseLine, std::string(static_cast<std::size_t>(filled), '#'), kBarWidth,
             progress.done, progress.total, printable(shortened(progress.node->name(), 40)));
  std::fflush(stderr);
}

}  // namespace convgrad::cli

// A signal handler that does the one thing it may.
#include "cli/interrupt.h"

#include <csignal>

namespace convgrad::cli {
namespace {

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may write nothing else");

void on_interrupt(int) { interrupted = true; }

}  // namespace

const std::atomic<bool>* cancel_on_interrupt() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  return &interrupted;
}

}  // namespace convgrad::cli

// Ctrl-C as a cancel flag.
#pragma once

#include <atomic>

namespace convgrad::cli {

// From here on the first interrupt sets the flag; a second one ends the program, as it would without us.
const std::atomic<bool>* cancel_on_interrupt();

}  // namespace convgrad::cli

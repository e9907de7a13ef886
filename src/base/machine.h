// What the machine gives this process now.
#pragma once

#include <cstdint>

namespace convgrad {

// Cores it may run on (its affinity mask, not the machine's count).
int usable_cores();

// Bytes that can still be had without swapping; the largest number where the system does not say.
std::int64_t available_memory();

}  // namespace convgrad

// What the machine gives this process now.
#pragma once

#include <cstdint>

namespace convgrad {

// Cores it may run on (its affinity mask, not the machine's count).
int usable_cores();

// Bytes that can still be had without swapping; the largest number where the system does not say.
std::int64_t available_memory();

// Whether this process may use AMX tiles of bf16. Asks the system for the permission, once.
bool amx_bf16_usable();

}  // namespace convgrad

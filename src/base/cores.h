// How many cores this process may run on (its affinity mask, not the machine's count).
#pragma once

namespace convgrad {

int usable_cores();

}  // namespace convgrad

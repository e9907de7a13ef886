#include "engines/cpu/kernels/isa_table.h"

static_assert(HWY_TARGET == HWY_NEON, "this file's flags must select neon");

namespace convgrad::cpu {

Kernels kernels_neon() { return HWY_NAMESPACE::kernel_tables("neon"); }

}  // namespace convgrad::cpu

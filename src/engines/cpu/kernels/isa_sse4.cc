#include "engines/cpu/kernels/isa_table.h"

static_assert(HWY_TARGET == HWY_SSE4, "this file's flags must select sse4");

namespace convgrad::cpu {

Kernels kernels_sse4() { return HWY_NAMESPACE::kernel_tables("sse4"); }

}  // namespace convgrad::cpu

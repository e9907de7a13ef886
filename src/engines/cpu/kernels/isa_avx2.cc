#include "engines/cpu/kernels/isa_table.h"

static_assert(HWY_TARGET == HWY_AVX2, "this file's flags must select avx2");

namespace convgrad::cpu {

Kernels kernels_avx2() { return HWY_NAMESPACE::kernel_tables("avx2"); }

}  // namespace convgrad::cpu

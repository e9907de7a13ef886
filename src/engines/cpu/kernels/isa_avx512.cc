#include "engines/cpu/kernels/isa_table.h"

static_assert(HWY_TARGET == HWY_AVX3, "this file's flags must select avx512");

namespace convgrad::cpu {

Kernels kernels_avx512() { return HWY_NAMESPACE::kernel_tables("avx512"); }

}  // namespace convgrad::cpu

// The operand lists of wgmma.mma_async m64nNk16 for each N: wgmma_bf16 and wgmma_f16, overloaded by d's length.
#pragma once

#include <cstdint>

#include "engines/cuda/atoms/atoms.h"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

// "%0,...,%(n-1)": the names of n accumulators in an asm text, which the preprocessor cannot count itself.
#define CONVGRAD_NAMES_4 "%0,%1,%2,%3"
#define CONVGRAD_NAMES_8 CONVGRAD_NAMES_4 ",%4,%5,%6,%7"
#define CONVGRAD_NAMES_16 CONVGRAD_NAMES_8 ",%8,%9,%10,%11,%12,%13,%14,%15"
#define CONVGRAD_NAMES_32 CONVGRAD_NAMES_16 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define CONVGRAD_NAMES_48 CONVGRAD_NAMES_32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47"
#define CONVGRAD_NAMES_64 CONVGRAD_NAMES_48 ",%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define CONVGRAD_NAMES_96                                                                                \
  CONVGRAD_NAMES_64                                                                                      \
  ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88" \
  ",%89,%90,%91,%92,%93,%94,%95"
#define CONVGRAD_NAMES_128                                                                           \
  CONVGRAD_NAMES_96                                                                                  \
  ",%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115" \
  ",%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"

// "+f"(d[i]),...: the operands of the same names.
#define CONVGRAD_FLOATS_4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define CONVGRAD_FLOATS_8(i) CONVGRAD_FLOATS_4(i), CONVGRAD_FLOATS_4(i + 4)
#define CONVGRAD_FLOATS_16(i) CONVGRAD_FLOATS_8(i), CONVGRAD_FLOATS_8(i + 8)
#define CONVGRAD_FLOATS_32(i) CONVGRAD_FLOATS_16(i), CONVGRAD_FLOATS_16(i + 16)
#define CONVGRAD_FLOATS_48(i) CONVGRAD_FLOATS_32(i), CONVGRAD_FLOATS_16(i + 32)
#define CONVGRAD_FLOATS_64(i) CONVGRAD_FLOATS_32(i), CONVGRAD_FLOATS_32(i + 32)
#define CONVGRAD_FLOATS_96(i) CONVGRAD_FLOATS_64(i), CONVGRAD_FLOATS_32(i + 64)
#define CONVGRAD_FLOATS_128(i) CONVGRAD_FLOATS_64(i), CONVGRAD_FLOATS_64(i + 64)

// One instruction: n columns, r = n / 2 accumulators; the five operands after them are named r to r + 4. Scale 1 for a
// and b; the last two say which of them is contiguous along m or n.
#define CONVGRAD_WGMMA(type, n, r, a_name, b_name, add_name, ta_name, tb_name)                                    \
  template <bool TransposeA, bool TransposeB>                                                                     \
  CONVGRAD_ATOM void wgmma_##type(float(&d)[r], std::uint64_t a, std::uint64_t b, bool add) {                     \
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %" #add_name                                               \
                 ", 0;\n"                                                                                         \
                 "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." #type "." #type " {" CONVGRAD_NAMES_##r        \
                 "}, "                                                                                            \
                 "%" #a_name ", %" #b_name ", add, 1, 1, %" #ta_name ", %" #tb_name ";\n}"                        \
                 : CONVGRAD_FLOATS_##r(0)                                                                         \
                 : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(TransposeA ? 1 : 0), "n"(TransposeB ? 1 : 0)); \
  }
#define CONVGRAD_WGMMAS(n, ...) CONVGRAD_WGMMA(bf16, n, __VA_ARGS__) CONVGRAD_WGMMA(f16, n, __VA_ARGS__)

namespace convgrad::cuda {

CONVGRAD_WGMMAS(8, 4, 4, 5, 6, 7, 8)
CONVGRAD_WGMMAS(16, 8, 8, 9, 10, 11, 12)
CONVGRAD_WGMMAS(32, 16, 16, 17, 18, 19, 20)
CONVGRAD_WGMMAS(64, 32, 32, 33, 34, 35, 36)
CONVGRAD_WGMMAS(96, 48, 48, 49, 50, 51, 52)
CONVGRAD_WGMMAS(128, 64, 64, 65, 66, 67, 68)
CONVGRAD_WGMMAS(192, 96, 96, 97, 98, 99, 100)
CONVGRAD_WGMMAS(256, 128, 128, 129, 130, 131, 132)

}  // namespace convgrad::cuda

#endif

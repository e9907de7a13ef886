// The tile registers of Intel CPUs from Sapphire Rapids on.
#include "engines/cpu/kernels/pairs/tiles.h"

namespace convgrad::cpu {
namespace {

// Assembly, because GCC's intrinsics take the number of a tile as a literal only. Volatile statements keep
// their order, and nothing but these uses tiles.
struct Amx {
  static void configure(const TileConfig& config) { asm volatile("ldtilecfg %0" : : "m"(config)); }
  static void release() { asm volatile("tilerelease"); }
  template <int kTile>
  static void zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
  }
  template <int kTile>
  static void load(const void* from, std::int64_t row_bytes) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(row_bytes), "i"(kTile) : "memory");
  }
  template <int kTile>
  static void store(void* to, std::int64_t row_bytes) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(row_bytes), "i"(kTile) : "memory");
  }
  template <int kSums, int kA, int kB>
  static void dot() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kA), "i"(kB));
  }
};

}  // namespace

PairKernels pairs_amx(double gain, bool wins) {
  return {"amx", 2, gain, wins, multiply_by_tiles<Amx>, leave_tiles<Amx>};
}

}  // namespace convgrad::cpu

// All kernels of one instruction set.
#pragma once

#include <string_view>

#include "engines/cpu/kernels/copy/copy.h"
#include "engines/cpu/kernels/dot/dot.h"
#include "engines/cpu/kernels/pack/pack.h"
#include "engines/cpu/kernels/sums/sums.h"
#include "engines/cpu/kernels/tile/tile.h"

namespace convgrad::cpu {

// For one accumulator type.
template <class T>
struct KernelSet {
  TileTable<T> tile;
  DotTable<T> dot;
  SumTable<T> sums;
  void (*expand)(const ExpandArgs<T>&);
};

struct Kernels {
  std::string_view isa;
  bool fuses;  // multiply-adds round once: the bits of every instruction set that does are the same
  KernelSet<float> f32;
  KernelSet<double> f64;
  KernelSet<std::uint32_t> u32;
  CopyTable copy;
  PackTable pack;
  void (*fence)();  // after stores past the caches, before another thread may look

  template <class T>
  const KernelSet<T>& of() const {
    if constexpr (sizeof(T) == 8) {
      return f64;
    } else if constexpr (T(0.5) == T(0)) {
      return u32;
    } else {
      return f32;
    }
  }
};

}  // namespace convgrad::cpu

// Highway for the target this file's flags name, and the few operations it lacks.
#pragma once

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace convgrad::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Sanitizers take minutes to compile every shape of tile; the sums are the same with few.
#if defined(CONVGRAD_FEW_TILES)
constexpr bool kFewTiles = true;
#else
constexpr bool kFewTiles = false;
#endif

// Targets of x86 compare by age, the newest least; all of Arm's are greater than any of them.
constexpr bool kFusesMultiplyAdd = HWY_TARGET <= HWY_AVX2 || HWY_ARCH_ARM_A64;
constexpr int kRegisters = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64 ? 32 : 16;

template <class T>
inline constexpr int kLanesOf = static_cast<int>(hn::MaxLanes(hn::ScalableTag<T>()));

// a * b + c: fused where the target can, integers modulo 2^32.
template <class V>
HWY_INLINE V multiply_add(V a, V b, V c) {
  if constexpr (std::is_floating_point_v<hn::TFromV<V>>) {
    return hn::MulAdd(a, b, c);
  } else {
    return hn::Add(hn::Mul(a, b), c);
  }
}

// The first lanes of a vector: memory beyond them is neither read nor written. Highway's masked loads
// touch whole vectors on targets without such instructions, so those go through a buffer.
constexpr bool kMaskedMemory = HWY_TARGET <= HWY_AVX2;
constexpr bool kMasked16 = HWY_TARGET <= HWY_AVX3;  // lanes of 16 bits too

template <class T>
struct FirstLanes {
  using D = hn::ScalableTag<T>;
  hn::Mask<D> mask;
  std::size_t count;

  explicit FirstLanes(std::int64_t left) : count(static_cast<std::size_t>(left < kLanesOf<T> ? left : kLanesOf<T>)) {
    mask = hn::FirstN(D(), count);
  }

  // Other lanes are 0.
  HWY_INLINE hn::Vec<D> load(const T* from) const {
    if constexpr (kMaskedMemory) return hn::MaskedLoad(mask, D(), from);
    HWY_ALIGN T buffer[kLanesOf<T>] = {};
    for (std::size_t i = 0; i < count; ++i) buffer[i] = from[i];
    return hn::Load(D(), buffer);
  }
  HWY_INLINE void store(hn::Vec<D> value, T* to) const {
    if constexpr (kMaskedMemory) return hn::BlendedStore(value, mask, D(), to);
    HWY_ALIGN T buffer[kLanesOf<T>];
    hn::Store(value, D(), buffer);
    for (std::size_t i = 0; i < count; ++i) to[i] = buffer[i];
  }
};

}  // namespace
}  // namespace convgrad::cpu::HWY_NAMESPACE

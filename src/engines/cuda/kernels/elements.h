// Element types as kernels see them: how they are stored, summed, and sums stored again.
#pragma once

#include <cstdint>
#include <cstring>

#include "engines/cuda/atoms/atoms.h"

namespace convgrad::cuda {

template <class To, class From>
CONVGRAD_BOTH To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof(to));
  return to;
}

// 16-bit types convert by an instruction on a device, and to the same bits here.

// bf16: the upper half of an f32, rounded to nearest, ties to even.
struct Bf16Element {
  using Stored = std::uint16_t;
  using Sum = float;
  using Exact = double;  // holds products, and sums of very many of them
  using Tag = Bf16;
  static CONVGRAD_BOTH double widened(Stored v) { return bits_as<float>(static_cast<std::uint32_t>(v) << 16); }
  static CONVGRAD_BOTH Stored narrowed(float sum) {
#ifdef __CUDA_ARCH__
    Stored narrow;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(narrow) : "f"(sum));
    return narrow;
#else
    const auto bits = bits_as<std::uint32_t>(sum);
    if (sum != sum) return 0x7fff;
    return static_cast<Stored>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
#endif
  }
};

// f16: 5 bits of exponent, 10 of fraction, subnormals below 2^-14.
struct F16Element {
  using Stored = std::uint16_t;
  using Sum = float;
  using Exact = double;
  using Tag = F16;
  static CONVGRAD_BOTH double widened(Stored v) {
#ifdef __CUDA_ARCH__
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(v));
    return wide;
#else
    const std::uint32_t sign = static_cast<std::uint32_t>(v & 0x8000) << 16, rest = v & 0x7fff;
    if (rest >= 0x7c00) return bits_as<float>(sign | 0x7f800000 | (rest & 0x3ff) << 13);
    const float magnitude = bits_as<float>(rest << 13) * 0x1p112f;  // exact: moves the exponent's bias
    return bits_as<float>(sign | bits_as<std::uint32_t>(magnitude));
#endif
  }
  static CONVGRAD_BOTH Stored narrowed(float sum) {
#ifdef __CUDA_ARCH__
    Stored narrow;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(narrow) : "f"(sum));
    return narrow;
#else
    const auto bits = bits_as<std::uint32_t>(sum);
    const auto sign = static_cast<Stored>(bits >> 16 & 0x8000);
    const std::uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return 0x7fff;
    if (magnitude >= 0x477ff000) return static_cast<Stored>(sign | 0x7c00);  // 65520 and more
    if (magnitude < 0x38800000)  // subnormal: adding 0.5 leaves the rounded value in the low bits
      return static_cast<Stored>(sign | (bits_as<std::uint32_t>(bits_as<float>(magnitude) + 0.5f) - 0x3f000000));
    return static_cast<Stored>(sign | ((magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13));
#endif
  }
};

// A type that is stored as it is summed; Wide holds its products, and sums of very many of them.
template <class T, class Wide>
struct PlainElement {
  using Stored = T;
  using Sum = T;
  using Exact = Wide;
  static CONVGRAD_BOTH Wide widened(T v) { return v; }
  static CONVGRAD_BOTH T narrowed(T sum) { return sum; }
};
using F32Element = PlainElement<float, double>;
using F64Element = PlainElement<double, double>;
using I32Element = PlainElement<std::uint32_t, std::uint32_t>;  // modulo 2^32, as TensorFlow has it

// f32 as three bf16 planes: 8 + 8 + 8 bits of significand, which together are the number itself, unless the last of
// them fall below 2^-133. Of a number that is not finite, or too large for bf16 when rounded, the first plane is cut
// off, not rounded, and the number stays whole. A product is the sum of the six largest products of planes.
//
// Kernels may be given the first two planes alone (MathMode::tf32); a product is then the sum of the three largest.
// With a = a1 + a2 + e and b = b1 + b2 + f, where each plane is rounded to 8 bits,
//
//   |a2| <= 2^-8 |a|,  |e| <= 2^-17 |a|,  and the same for b2 and f,
//   |ab - (a1 b1 + a1 b2 + a2 b1)| = |a2 b2 + e (b1 + b2) + a f| <= (2^-16 + 2^-17 + 2^-17) |ab| = 2^-15 |ab|.
//
// The term of 2^-34 that this leaves out is smaller than what the bounds have left: a2 and e are largest next to a
// power of two, where they stay 2^-8 and 2^-9 of themselves below (tried for every significand). A first plane that is
// cut off leaves twice as much, but of numbers next to twice a power of two.
struct PlanesElement {
  using Stored = std::uint16_t;
  using Sum = float;
  using Exact = double;
  using Tag = Bf16;
  static constexpr int Planes = 3;
  static CONVGRAD_BOTH void split(float v, Stored (&plane)[Planes]) {
    float rest = v;
    for (int i = 0; i < Planes; ++i) {
      plane[i] = Bf16Element::narrowed(rest);
      if ((plane[i] & 0x7f80) == 0x7f80) plane[i] = static_cast<Stored>(bits_as<std::uint32_t>(rest) >> 16);
      const auto part = static_cast<float>(Bf16Element::widened(plane[i]));
      if (!(part - part == 0)) {  // infinite, or not a number: nothing is left
        if (rest != rest) plane[i] |= 0x40;
        rest = 0;
      } else {
        rest -= part;
      }
    }
  }
};

// The planes that a tensor is stored in, `step` elements apart.
struct PlanesAt {
  int count;
  std::int64_t step;
};

// The number at `offset` of a tensor.
template <class Element>
CONVGRAD_BOTH typename Element::Exact number_at(const typename Element::Stored* tensor, std::int64_t offset,
                                                const PlanesAt&) {
  return Element::widened(tensor[offset]);
}
template <>
inline CONVGRAD_BOTH double number_at<PlanesElement>(const std::uint16_t* tensor, std::int64_t offset,
                                                     const PlanesAt& planes) {
  const double two = Bf16Element::widened(tensor[offset]) + Bf16Element::widened(tensor[offset + planes.step]);
  return planes.count == 2 ? two : two + Bf16Element::widened(tensor[offset + 2 * planes.step]);
}

// What a result is stored as, where that is not what operands are.
template <class Element>
struct ResultOf {
  using Type = Element;
};
template <>
struct ResultOf<PlanesElement> {
  using Type = F32Element;
};

// The products of planes that make one product, the largest first: 1 of one plane, 3 of two, 6 of three.
template <class Element>
inline constexpr bool kHasPlanes = false;
template <>
inline constexpr bool kHasPlanes<PlanesElement> = true;
template <class Element>
CONVGRAD_BOTH int products_of(int planes) {
  return kHasPlanes<Element> ? planes * (planes + 1) / 2 : 1;
}
// Which planes: of the field, of the dense operand.
inline CONVGRAD_BOTH int field_plane(int product) { return product == 2 || product == 3 ? 1 : product == 5 ? 2 : 0; }
inline CONVGRAD_BOTH int dense_plane(int product) { return product == 1 || product == 3 ? 1 : product == 4 ? 2 : 0; }

inline CONVGRAD_BOTH bool is_finite(double v) { return v - v == 0; }
inline CONVGRAD_BOTH bool is_finite(std::uint32_t) { return true; }

}  // namespace convgrad::cuda

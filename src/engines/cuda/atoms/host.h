// Atoms without a device: what the templates among them hand to the host machine (tests/support/cuda_machine), which
// defines the rest.
#pragma once

#include <cmath>
#include <type_traits>

#include "engines/cuda/atoms/atoms.h"

namespace convgrad::cuda {

// words[0] of a map is the address of its box.
inline TensorMap host_map(const Box& box) {
  TensorMap map{};
  map.words[0] = reinterpret_cast<std::uintptr_t>(&box);
  return map;
}

namespace host {

struct Product {
  bool bf16;
  int columns;
  bool transpose_a, transpose_b;
};

void take_registers(unsigned registers);
void give_registers(unsigned registers);
std::byte* reach(unsigned at, std::size_t bytes, std::size_t alignment, bool to_write);
void copy(unsigned to, const void* from, unsigned bytes, bool there);
void wait_copies(unsigned groups);
void multiply(bool bf16, float* c, const std::uint32_t* a, const std::uint32_t* b);
void load_matrices(bool transposed, std::uint32_t* r, unsigned at);
void warpgroup_multiply(const Product& product, float* d, std::uint64_t a, std::uint64_t b, bool add);
void warpgroup_wait(unsigned groups);

}  // namespace host

template <int Registers>
void take_registers() {
  static_assert(Registers >= 24 && Registers <= 256 && Registers % 8 == 0);
  host::take_registers(Registers);
}

template <int Registers>
void give_registers() {
  static_assert(Registers >= 24 && Registers <= 256 && Registers % 8 == 0);
  host::give_registers(Registers);
}

template <class T>
T& shared(unsigned at) {
  return *reinterpret_cast<T*>(host::reach(at, sizeof(T), alignof(T), !std::is_const_v<T>));
}

template <int Bytes>
void copy_async(unsigned to, const void* from, bool there) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
  host::copy(to, from, Bytes, there);
}

template <int N>
void wait_copies() {
  host::wait_copies(N);
}

template <class Element>
void multiply(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  static_assert(std::is_same_v<Element, Bf16> || std::is_same_v<Element, F16>);
  host::multiply(std::is_same_v<Element, Bf16>, c, a, b);
}

template <bool Transposed>
void load_matrices(std::uint32_t (&r)[4], unsigned at) {
  host::load_matrices(Transposed, r, at);
}

template <class Element, int N, bool TransposeA, bool TransposeB>
void warpgroup_multiply(float (&d)[N / 2], std::uint64_t a, std::uint64_t b, bool add) {
  static_assert(std::is_same_v<Element, Bf16> || std::is_same_v<Element, F16>);
  static_assert(N == 8 || N == 16 || N == 32 || N == 64 || N == 96 || N == 128 || N == 192 || N == 256);
  host::warpgroup_multiply({std::is_same_v<Element, Bf16>, N, TransposeA, TransposeB}, d, a, b, add);
}

template <int N>
void warpgroup_wait() {
  host::warpgroup_wait(N);
}

inline double multiply_add(double a, double b, double c) { return std::fma(a, b, c); }
inline float multiply_add(float a, float b, float c) { return std::fma(a, b, c); }
inline std::uint32_t multiply_add(std::uint32_t a, std::uint32_t b, std::uint32_t c) { return a * b + c; }

}  // namespace convgrad::cuda

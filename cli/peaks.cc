// Multiply-adds that touch nothing but registers, and a copy of more than a cache holds. This file is
// compiled with contraction, so that a * b + c is one instruction where there is one.
#include "cli/peaks.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "cli/stopwatch.h"

namespace convgrad::cli {
namespace {

constexpr std::size_t kChains = 12;  // 2 a cycle, 4 to 5 cycles each; with two factors they fit 16 registers
constexpr std::int64_t kSteps = 500'000;
constexpr int kBlocks = 40;
constexpr std::size_t kCopyBytes = std::size_t{128} << 20;
constexpr int kCopies = 5;

volatile double sink;  // keeps the sums alive

// kSteps multiply-adds in each of kChains vectors; none starts at the fixed point, 1, which would be
// computed at compile time. The attribute has to stand on the function that holds
// the vectors: GCC cuts them into the target's pieces before it inlines.
#define CONVGRAD_FMA_BLOCK(function, vector_bytes, attribute)              \
  template <class T, std::size_t... kChain>                                \
  attribute void function(std::index_sequence<kChain...>) {                \
    typedef T Vector __attribute__((vector_size(vector_bytes)));           \
    const Vector factor = Vector{} + T(0.999), step = Vector{} + T(0.001); \
    Vector chain[] = {(Vector{} + (T(kChain) + T(0.5)))...};               \
    for (std::int64_t i = 0; i < kSteps; ++i) {                            \
      ((chain[kChain] = chain[kChain] * factor + step), ...);              \
    }                                                                      \
    const Vector sum = (chain[kChain] + ...);                              \
    sink = static_cast<double>(sum[0]);                                    \
  }
CONVGRAD_FMA_BLOCK(plain_block, 16, )
#if defined(__x86_64__)
CONVGRAD_FMA_BLOCK(avx2_block, 32, __attribute__((target("avx2,fma"))))
CONVGRAD_FMA_BLOCK(avx512_block, 64, __attribute__((target("avx512f"))))
#endif
#undef CONVGRAD_FMA_BLOCK

template <class Work>
double seconds_of(int threads, const Work& work) {
  const Stopwatch stopwatch(threads);
  work();
  return stopwatch.seconds();
}

template <class Work>
double least_seconds(int threads, int times, const Work& work) {
  double least = seconds_of(threads, work);
  for (int i = 1; i < times; ++i) least = std::min(least, seconds_of(threads, work));
  return least;
}

template <class T>
double fma_gflops() {
  constexpr std::make_index_sequence<kChains> kAll;
  std::size_t bytes = 16;
  void (*block)(decltype(kAll)) = plain_block<T>;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    bytes = 64;
    block = avx512_block<T>;
  } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    bytes = 32;
    block = avx2_block<T>;
  }
#endif
  const std::size_t lanes = bytes / sizeof(T);
  const double flops = 2.0 * static_cast<double>(kSteps) * kChains * static_cast<double>(lanes);
  return flops / least_seconds(1, kBlocks, [&] { block(kAll); }) * 1e-9;
}

double copy_gbytes(int threads) {
  const std::size_t part = kCopyBytes / static_cast<std::size_t>(threads);
  const std::vector<char> from(kCopyBytes, 1);
  std::vector<char> to(kCopyBytes);
  const auto copy_all = [&] {
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i < static_cast<std::size_t>(threads); ++i)
      workers.emplace_back([&, at = i * part] { std::memcpy(&to[at], &from[at], part); });
  };
  const double least = least_seconds(threads, kCopies, copy_all);
  sink = to[0];
  return 2.0 * static_cast<double>(part * static_cast<std::size_t>(threads)) / least * 1e-9;
}

}  // namespace

Peaks measure_peaks(int threads) { return {fma_gflops<float>(), fma_gflops<double>(), copy_gbytes(threads)}; }

}  // namespace convgrad::cli

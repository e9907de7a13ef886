// Atoms as PTX: for sm_80 and later; those that need sm_90 or sm_90a trap on what is older.
#pragma once

#include <type_traits>

#include "engines/cuda/atoms/atoms.h"
#include "engines/cuda/atoms/wgmma.h"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define CONVGRAD_SM90 1
#endif
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define CONVGRAD_SM90A 1
#endif

namespace convgrad::cuda {

// ---- Threads ----
CONVGRAD_ATOM int thread_index() { return static_cast<int>(threadIdx.x); }
CONVGRAD_ATOM unsigned block_index() { return blockIdx.x; }
CONVGRAD_ATOM void sync_block() { __syncthreads(); }
CONVGRAD_ATOM void sync_warp() { __syncwarp(); }
CONVGRAD_ATOM void sync_some(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

template <int Registers>
CONVGRAD_ATOM void take_registers() {
  static_assert(Registers >= 24 && Registers <= 256 && Registers % 8 == 0);
#ifdef CONVGRAD_SM90A
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
#endif
}

template <int Registers>
CONVGRAD_ATOM void give_registers() {
  static_assert(Registers >= 24 && Registers <= 256 && Registers % 8 == 0);
#ifdef CONVGRAD_SM90A
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
#endif
}

// ---- Shared memory ----
CONVGRAD_ATOM std::byte* shared_memory() {
  extern __shared__ __align__(1024) std::byte convgrad_shared_memory[];
  return convgrad_shared_memory;
}

template <class T>
CONVGRAD_ATOM T& shared(unsigned at) {
  return *reinterpret_cast<T*>(shared_memory() + at);
}

// The address in the shared window, which instructions take.
CONVGRAD_ATOM unsigned window(unsigned at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared_memory())) + at;
}

// ---- Barriers ----
CONVGRAD_ATOM void barrier_init(unsigned at, unsigned arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(window(at)), "r"(arrivals) : "memory");
}

CONVGRAD_ATOM void barriers_ready() {
#ifdef CONVGRAD_SM90
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#else
  __threadfence_block();
#endif
}

CONVGRAD_ATOM void barrier_arrive(unsigned at) {
  [[maybe_unused]] std::uint64_t state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(window(at)) : "memory");
}

CONVGRAD_ATOM void barrier_expect([[maybe_unused]] unsigned at, [[maybe_unused]] unsigned bytes) {
#ifdef CONVGRAD_SM90
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(window(at)), "r"(bytes) : "memory");
#else
  __trap();
#endif
}

CONVGRAD_ATOM bool barrier_complete(unsigned address, unsigned parity) {
  unsigned complete;
#ifdef CONVGRAD_SM90  // may sleep for a while before it answers
  asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(complete)
               : "r"(address), "r"(parity)
               : "memory");
#else
  asm volatile("{\n.reg .pred p;\nmbarrier.test_wait.parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(complete)
               : "r"(address), "r"(parity)
               : "memory");
#endif
  return complete != 0;
}

CONVGRAD_ATOM void barrier_wait(unsigned at, unsigned parity) {
  const unsigned address = window(at);
  while (!barrier_complete(address, parity)) {
  }
}

// ---- Copies ----
template <int Bytes>
CONVGRAD_ATOM void copy_async(unsigned to, const void* from, bool there) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
  const std::size_t address = __cvta_generic_to_global(from);
  const int read = there ? Bytes : 0;
  if constexpr (Bytes == 16) {  // past L1: a line is used once
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(window(to)), "l"(address), "r"(read) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(window(to)), "l"(address), "n"(Bytes), "r"(read)
                 : "memory");
  }
}

CONVGRAD_ATOM void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int N>
CONVGRAD_ATOM void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

CONVGRAD_ATOM void fence_for_async() {
#ifdef CONVGRAD_SM90
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

CONVGRAD_ATOM void load_box([[maybe_unused]] unsigned to, [[maybe_unused]] const TensorMap& map,
                            [[maybe_unused]] unsigned barrier, [[maybe_unused]] const int (&at)[5]) {
#ifdef CONVGRAD_SM90
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(window(to)),
      "l"(&map), "r"(window(barrier)), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4])
      : "memory");
#else
  __trap();
#endif
}

// ---- Products of a warp ----
CONVGRAD_ATOM void multiply(double (&c)[4], const double (&a)[2], const double (&b)[1]) {
#ifdef CONVGRAD_SM90
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
               : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
               : "d"(a[0]), "d"(a[1]), "d"(b[0]));
#else  // two halves of 8 rows
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
               : "+d"(c[0]), "+d"(c[1])
               : "d"(a[0]), "d"(b[0]));
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
               : "+d"(c[2]), "+d"(c[3])
               : "d"(a[1]), "d"(b[0]));
#endif
}

template <class Element>
CONVGRAD_ATOM void multiply(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  static_assert(std::is_same_v<Element, Bf16> || std::is_same_v<Element, F16>);
  if constexpr (std::is_same_v<Element, Bf16>) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
}

template <bool Transposed>
CONVGRAD_ATOM void load_matrices(std::uint32_t (&r)[4], unsigned at) {
  if constexpr (Transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(window(at))
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(window(at))
                 : "memory");
  }
}

// ---- Products of a warpgroup ----
CONVGRAD_ATOM void warpgroup_fence() {
#ifdef CONVGRAD_SM90A
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#else
  __trap();
#endif
}

CONVGRAD_ATOM void warpgroup_commit() {
#ifdef CONVGRAD_SM90A
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#else
  __trap();
#endif
}

template <int N>
CONVGRAD_ATOM void warpgroup_wait() {
#ifdef CONVGRAD_SM90A
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
#else
  __trap();
#endif
}

template <class Element, int N, bool TransposeA, bool TransposeB>
CONVGRAD_ATOM void warpgroup_multiply([[maybe_unused]] float (&d)[N / 2], [[maybe_unused]] std::uint64_t a,
                                      [[maybe_unused]] std::uint64_t b, [[maybe_unused]] bool add) {
  static_assert(std::is_same_v<Element, Bf16> || std::is_same_v<Element, F16>);
#ifdef CONVGRAD_SM90A
  if constexpr (std::is_same_v<Element, Bf16>) {
    wgmma_bf16<TransposeA, TransposeB>(d, a, b, add);
  } else {
    wgmma_f16<TransposeA, TransposeB>(d, a, b, add);
  }
#else
  __trap();
#endif
}

CONVGRAD_ATOM std::uint64_t descriptor(unsigned at, unsigned leading_bytes, unsigned stride_bytes, int swizzle_bytes) {
  return encode_descriptor(window(at), leading_bytes, stride_bytes, swizzle_bytes);
}

// ---- Products of a thread ----
CONVGRAD_ATOM double multiply_add(double a, double b, double c) { return __fma_rn(a, b, c); }
CONVGRAD_ATOM float multiply_add(float a, float b, float c) { return __fmaf_rn(a, b, c); }
CONVGRAD_ATOM std::uint32_t multiply_add(std::uint32_t a, std::uint32_t b, std::uint32_t c) { return a * b + c; }

}  // namespace convgrad::cuda

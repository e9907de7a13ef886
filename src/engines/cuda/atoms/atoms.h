// The instructions kernels are made of, one function each: PTX on a device (device.h), a machine in software in tests.
//
// Shared memory is named by byte offsets `at` from shared_memory(). "Together" means that every lane of the warp (or of
// the warpgroup: 4 warps, the first a multiple of 4) calls it with the same template arguments.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cuda/atoms/marks.h"

// Accumulators stay in registers only where a product is inlined.
#ifdef __CUDACC__
#define CONVGRAD_ATOM __device__ __forceinline__
#else
#define CONVGRAD_ATOM
#endif

namespace convgrad::cuda {

// 16-bit elements of products.
struct Bf16;
struct F16;

// Describes a tensor and the box that one load takes of it; opaque to kernels. It must reach load_box in a kernel's
// __grid_constant__ argument, in constant memory or in global memory, never in a copy on the stack.
struct alignas(64) TensorMap {
  std::uint64_t words[16];
};

// What a map says, in plain numbers: a tensor of five dimensions, and the box that one load takes of it.
struct Box {
  const void* tensor;
  int element_bytes;
  std::int64_t extents[5];       // in elements, fastest first
  std::int64_t byte_strides[4];  // of dimensions 1 to 4
  int box[5];                    // extents of one load, in elements of the tensor
  int element_strides[5];        // a load takes every element_strides[i]-th of them
  int swizzle_bytes;             // 128, 64, 32 or 0
};

// ---- Threads ----
CONVGRAD_ATOM int thread_index();
CONVGRAD_ATOM unsigned block_index();
CONVGRAD_ATOM void sync_block();                    // all threads of the block
CONVGRAD_ATOM void sync_warp();                     // together in a warp
CONVGRAD_ATOM void sync_some(int id, int threads);  // id in 1..15; whole warps, `threads` in all, the same for each
template <int Registers>                            // sm_90a, together in a warpgroup: 24..256, a multiple of 8
CONVGRAD_ATOM void take_registers();                // waits until that many are free for each thread
template <int Registers>
CONVGRAD_ATOM void give_registers();

// ---- Shared memory ----
// The block's dynamic shared memory, 1024-byte aligned.
CONVGRAD_ATOM std::byte* shared_memory();
// The T at `at`, a multiple of alignof(T). Ask anew for each access, and for a const T where nothing is written: the
// host machine checks and records what is asked for here.
template <class T>
CONVGRAD_ATOM T& shared(unsigned at);

// ---- Barriers in shared memory (mbarrier; 8 bytes each, 8-byte aligned) ----
// A phase is complete when `arrivals` have arrived and every byte expected in it has come. Phases count from 0.
CONVGRAD_ATOM void barrier_init(unsigned at, unsigned arrivals);
CONVGRAD_ATOM void barriers_ready();  // by the thread that called init, before sync_block
CONVGRAD_ATOM void barrier_arrive(unsigned at);
CONVGRAD_ATOM void barrier_expect(unsigned at, unsigned bytes);  // sm_90: arrives, and expects bytes of load_box
// Until the latest phase of this parity is complete. On a new barrier, parity 1 is complete and 0 is not.
CONVGRAD_ATOM void barrier_wait(unsigned at, unsigned parity);

// ---- Copies into shared memory ----
// 4, 8 or 16 bytes, zeros when not there (from is then not read). Both sides are multiples of Bytes.
template <int Bytes>
CONVGRAD_ATOM void copy_async(unsigned to, const void* from, bool there);
// Closes the thread's group of copies; waits until at most N of its latest groups are under way. The bytes are then
// there for this thread; others need a barrier in between, and warpgroup_multiply fence_for_async() after the wait.
CONVGRAD_ATOM void commit_copies();
template <int N>
CONVGRAD_ATOM void wait_copies();
// This thread's stores and landed copies to shared memory become visible to warpgroup_multiply and load_box.
CONVGRAD_ATOM void fence_for_async();
// sm_90, by one thread: loads the map's box whose first element is `at` (fastest dimension first), zeros where that is
// outside the tensor, and brings the box's bytes to `barrier`. `to` is a multiple of 128; at[0] times the element's
// size one of 16, or the instruction traps.
CONVGRAD_ATOM void load_box(unsigned to, const TensorMap& map, unsigned barrier, const int (&at)[5]);

// ---- Products of a warp, together; g = lane / 4, t = lane % 4 ----
// c[16][8] += a[16][4] b[4][8], one fma a term in the order of k. a[i] is (g + 8 i, t), b[0] is (t, g), c[i] is
// (g + 8 (i / 2), 2 t + i % 2).
CONVGRAD_ATOM void multiply(double (&c)[4], const double (&a)[2], const double (&b)[1]);
// c[16][8] += a[16][16] b[16][8], c as above; 32 bits are two elements, the lower k in the lower half. a[i] starts at
// (g + 8 (i % 2), 2 t + 8 (i / 2)), b[i] at (2 t + 8 i, g).
template <class Element>
CONVGRAD_ATOM void multiply(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]);
// Four 8x8 matrices of 16 bits: lane l gives the offset of row l % 8 of matrix l / 8, a multiple of 16. r[i] receives
// (g, 2 t) and (g, 2 t + 1) of matrix i; Transposed: (2 t, g) and (2 t + 1, g).
template <bool Transposed>
CONVGRAD_ATOM void load_matrices(std::uint32_t (&r)[4], unsigned at);

// ---- Products of a warpgroup (sm_90a), together, asynchronous ----
// Before a product whose accumulators anything but another product has touched.
CONVGRAD_ATOM void warpgroup_fence();
// d[64][N] = a[64][16] b[16][N], plus d when `add`. Operands by descriptor; those of a Transposed one are contiguous
// along m (n) instead of k. In warp w, d[i] is (16 w + g + 8 (i / 2 % 2), 8 (i / 4) + 2 t + i % 2). Until a wait covers
// the product d may be used by others like it alone, and the operands' memory must stay as it is.
template <class Element, int N, bool TransposeA, bool TransposeB>
CONVGRAD_ATOM void warpgroup_multiply(float (&d)[N / 2], std::uint64_t a, std::uint64_t b, bool add);
// Closes the warp's group of products; waits until at most N of its latest groups are under way.
CONVGRAD_ATOM void warpgroup_commit();
template <int N>
CONVGRAD_ATOM void warpgroup_wait();
// An operand at `at`; all three numbers are multiples of 16. With s = swizzle_bytes of 128, 64 or 32, its bytes are
//   along k:           at + (row % 8) s + (row / 8) stride + 2 k                                    (leading unused)
//   along m or n = c:  at + 2 (c % (s / 2)) + c / (s / 2) leading + (k % 8) s + (k / 8) stride
// with the address swizzled last (swizzled_address() below). Without swizzle:
//   along k:           at + (row % 8) 16 + (row / 8) stride + (k / 8) leading + 2 (k % 8)
//   along m or n = c:  at + 2 (c % 8) + (c / 8) stride + (k % 8) 16 + (k / 8) leading
CONVGRAD_ATOM std::uint64_t descriptor(unsigned at, unsigned leading_bytes, unsigned stride_bytes, int swizzle_bytes);

// ---- Products of a thread ----
// a b + c, rounded once, or modulo 2^32.
CONVGRAD_ATOM double multiply_add(double a, double b, double c);
CONVGRAD_ATOM float multiply_add(float a, float b, float c);
CONVGRAD_ATOM std::uint32_t multiply_add(std::uint32_t a, std::uint32_t b, std::uint32_t c);

// ---- Shared by both sides ----
// Where byte `address` of a box or operand lies: its 16-byte chunk number is exclusive-ored with the bits from 7 on, so
// that 8 rows of one chunk column fall into 8 different banks of 16 bytes.
CONVGRAD_BOTH constexpr unsigned swizzled_address(unsigned address, int swizzle_bytes) {
  const unsigned chunks = swizzle_bytes == 0 ? 0u : static_cast<unsigned>(swizzle_bytes) / 16 - 1;
  return address ^ ((address >> 7 & chunks) << 4);
}

// The descriptor of an operand at `address` of the shared window. Fields in units of 16 bytes: bits 0-13 address, 16-29
// leading, 32-45 stride; bits 49-51, the base offset, stay 0 in windows that start anywhere; bits 62-63 the swizzle.
CONVGRAD_BOTH constexpr std::uint64_t encode_descriptor(unsigned address, unsigned leading_bytes, unsigned stride_bytes,
                                                        int swizzle_bytes) {
  const auto field = [](unsigned bytes) { return static_cast<std::uint64_t>(bytes >> 4 & 0x3fff); };
  const std::uint64_t swizzle = swizzle_bytes == 128 ? 1 : swizzle_bytes == 64 ? 2 : swizzle_bytes == 32 ? 3 : 0;
  return field(address) | field(leading_bytes) << 16 | field(stride_bytes) << 32 | swizzle << 62;
}

}  // namespace convgrad::cuda

#ifdef __CUDACC__
#include "engines/cuda/atoms/device.h"
#else
#include "engines/cuda/atoms/host.h"
#endif

// How functions are marked that the device compiler reads too.
#pragma once

#ifdef __CUDACC__
#define CONVGRAD_BOTH __host__ __device__
#define CONVGRAD_DEVICE __device__
#define CONVGRAD_SELDOM __device__ __noinline__  // its registers are not the caller's
#define CONVGRAD_UNROLL _Pragma("unroll")
#define CONVGRAD_UNROLL_TWICE _Pragma("unroll 2")
#else
#define CONVGRAD_BOTH
#define CONVGRAD_DEVICE
#define CONVGRAD_SELDOM
#define CONVGRAD_UNROLL
#define CONVGRAD_UNROLL_TWICE
#endif

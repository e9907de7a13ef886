// How functions are marked that the device compiler reads too.
#pragma once

#ifdef __CUDACC__
#define CONVGRAD_BOTH __host__ __device__
#define CONVGRAD_DEVICE __device__
#define CONVGRAD_SELDOM __device__ __noinline__  // its registers are not the caller's
#define CONVGRAD_UNROLL_TWICE _Pragma("unroll 2")
#define CONVGRAD_UNROLL_NOT _Pragma("unroll 1")  // its registers are those of one turn
#else
#define CONVGRAD_BOTH
#define CONVGRAD_DEVICE
#define CONVGRAD_SELDOM
#define CONVGRAD_UNROLL_TWICE
#define CONVGRAD_UNROLL_NOT
#endif

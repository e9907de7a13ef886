// How functions are marked that the device compiler reads too.
#pragma once

#ifdef __CUDACC__
#define CONVGRAD_BOTH __host__ __device__
#define CONVGRAD_DEVICE __device__
#define CONVGRAD_UNROLL _Pragma("unroll")
#else
#define CONVGRAD_BOTH
#define CONVGRAD_DEVICE
#define CONVGRAD_UNROLL
#endif

// The types and numbers of NVIDIA's driver interface that the runtime uses, as cuda.h has them: nothing of a CUDA
// toolkit is needed to build it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace convgrad::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;

// Of CUresult.
inline constexpr CUresult kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kNotInitialized = 3, kNoDevice = 100,
                          kInvalidDevice = 101, kInvalidImage = 200, kInvalidContext = 201, kNoBinary = 209,
                          kUnsupportedPtx = 222, kInvalidHandle = 400, kNotFound = 500, kContextDestroyed = 709,
                          kNotSupported = 801, kDriverMismatch = 803, kFirstOfCapture = 900, kLastOfCapture = 908;

// Of CUdevice_attribute.
inline constexpr int kMultiprocessors = 16, kCapabilityMajor = 75, kCapabilityMinor = 76, kSharedBytesOptIn = 97,
                     kMemoryPools = 115;
// Of CUfunction_attribute.
inline constexpr int kStaticSharedBytes = 1, kDynamicSharedBytes = 8;
// Of CUpointer_attribute, and of CUmemorytype.
inline constexpr int kMemoryType = 2, kIsManaged = 8, kDeviceOrdinal = 9;
inline constexpr unsigned kDeviceMemory = 2;
// Of CUstream_flags, CUevent_flags and CUstreamCaptureMode.
inline constexpr unsigned kNonBlocking = 1, kTimed = 0;
inline constexpr int kCaptureRelaxed = 2;
// Of CUtensorMapDataType, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion and
// CUtensorMapFloatOOBfill.
inline constexpr int kElementsOf16Bits = 1, kElementsOfF32 = 7, kElementsOfF64 = 8;
inline constexpr int kNoInterleave = 0, kSwizzle64 = 2, kSwizzle128 = 3, kPromote128 = 2, kFillZeros = 0;

}  // namespace convgrad::cuda

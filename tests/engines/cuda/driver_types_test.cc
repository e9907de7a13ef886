// The runtime's own numbers and functions of the driver against NVIDIA's header, where a toolkit is there to have it.
// Wrong ones would not compile here.
#include "engines/cuda/runtime/driver_types.h"

#include <cuda.h>
#include <gtest/gtest.h>

#include <array>

#include "engines/cuda/atoms/atoms.h"

namespace convgrad::cuda {
namespace {

static_assert(kSuccess == CUDA_SUCCESS && kInvalidValue == CUDA_ERROR_INVALID_VALUE);
static_assert(kOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY && kNotInitialized == CUDA_ERROR_NOT_INITIALIZED);
static_assert(kNoDevice == CUDA_ERROR_NO_DEVICE && kInvalidDevice == CUDA_ERROR_INVALID_DEVICE);
static_assert(kInvalidImage == CUDA_ERROR_INVALID_IMAGE && kInvalidContext == CUDA_ERROR_INVALID_CONTEXT);
static_assert(kNoBinary == CUDA_ERROR_NO_BINARY_FOR_GPU && kUnsupportedPtx == CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
static_assert(kInvalidHandle == CUDA_ERROR_INVALID_HANDLE && kNotFound == CUDA_ERROR_NOT_FOUND);
static_assert(kContextDestroyed == CUDA_ERROR_CONTEXT_IS_DESTROYED && kNotSupported == CUDA_ERROR_NOT_SUPPORTED);
static_assert(kDriverMismatch == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
static_assert(kFirstOfCapture == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
static_assert(kLastOfCapture == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);

static_assert(kMultiprocessors == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(kCapabilityMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(kCapabilityMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(kSharedBytesOptIn == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
static_assert(kMemoryPools == CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
static_assert(kStaticSharedBytes == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
static_assert(kDynamicSharedBytes == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(kMemoryType == CU_POINTER_ATTRIBUTE_MEMORY_TYPE && kIsManaged == CU_POINTER_ATTRIBUTE_IS_MANAGED);
static_assert(kDeviceOrdinal == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL && kDeviceMemory == CU_MEMORYTYPE_DEVICE);
static_assert(kNonBlocking == CU_STREAM_NON_BLOCKING && kTimed == CU_EVENT_DEFAULT);
static_assert(kCaptureRelaxed == CU_STREAM_CAPTURE_MODE_RELAXED);

static_assert(kElementsOf16Bits == CU_TENSOR_MAP_DATA_TYPE_UINT16);
static_assert(kElementsOfF32 == CU_TENSOR_MAP_DATA_TYPE_FLOAT32 && kElementsOfF64 == CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
static_assert(kNoInterleave == CU_TENSOR_MAP_INTERLEAVE_NONE && kFillZeros == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
static_assert(kSwizzle64 == CU_TENSOR_MAP_SWIZZLE_64B && kSwizzle128 == CU_TENSOR_MAP_SWIZZLE_128B);
static_assert(kPromote128 == CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
static_assert(sizeof(TensorMap) == sizeof(CUtensorMap) && alignof(TensorMap) == 64, "as cuTensorMapEncodeTiled has it");

// Of what a function returns and takes: numbers stand here for the header's enumerations.
template <class Function>
struct Sizes;
template <class Result, class... Parameters>
struct Sizes<Result(Parameters...)> {
  static constexpr std::array value = {sizeof(Result), sizeof(Parameters)...};
};

// The header gives a name its latest version; that of cuEventElapsedTime has the same parameters.
TEST(CudaDriverTypes, functions_have_the_parameters_of_the_header) {
#define CONVGRAD_CUDA_FUNCTION(name, ...) \
  static_assert(Sizes<CUresult(__VA_ARGS__)>::value == Sizes<decltype(::name)>::value);
#include "engines/cuda/runtime/driver.inc"
#undef CONVGRAD_CUDA_FUNCTION
}

}  // namespace
}  // namespace convgrad::cuda

// The codes that errors.cpp knows, which is compiled without the toolkit: our name, the number, and
// the toolkit's name, by which a build with CUDA asserts that it has the same number.
#pragma once

#define MARGAY_RUNTIME_CODES(CODE)                                    \
  CODE(kInvalidValue, 1, cudaErrorInvalidValue)                       \
  CODE(kMemoryAllocation, 2, cudaErrorMemoryAllocation)               \
  CODE(kInitializationError, 3, cudaErrorInitializationError)         \
  CODE(kInvalidConfiguration, 9, cudaErrorInvalidConfiguration)       \
  CODE(kStubLibrary, 34, cudaErrorStubLibrary)                        \
  CODE(kInsufficientDriver, 35, cudaErrorInsufficientDriver)          \
  CODE(kDevicesUnavailable, 46, cudaErrorDevicesUnavailable)          \
  CODE(kInvalidDeviceFunction, 98, cudaErrorInvalidDeviceFunction)    \
  CODE(kNoDeviceFound, 100, cudaErrorNoDevice)                        \
  CODE(kInvalidDevice, 101, cudaErrorInvalidDevice)                   \
  CODE(kInvalidKernelImage, 200, cudaErrorInvalidKernelImage)         \
  CODE(kNoKernelImageForDevice, 209, cudaErrorNoKernelImageForDevice) \
  CODE(kEccUncorrectable, 214, cudaErrorECCUncorrectable)             \
  CODE(kInvalidPtx, 218, cudaErrorInvalidPtx)                         \
  CODE(kNvlinkUncorrectable, 220, cudaErrorNvlinkUncorrectable)       \
  CODE(kUnsupportedPtxVersion, 222, cudaErrorUnsupportedPtxVersion)   \
  CODE(kIllegalAddress, 700, cudaErrorIllegalAddress)                 \
  CODE(kLaunchOutOfResources, 701, cudaErrorLaunchOutOfResources)     \
  CODE(kLaunchTimeout, 702, cudaErrorLaunchTimeout)                   \
  CODE(kAssert, 710, cudaErrorAssert)                                 \
  CODE(kHardwareStackError, 714, cudaErrorHardwareStackError)         \
  CODE(kIllegalInstruction, 715, cudaErrorIllegalInstruction)         \
  CODE(kMisalignedAddress, 716, cudaErrorMisalignedAddress)           \
  CODE(kInvalidAddressSpace, 717, cudaErrorInvalidAddressSpace)       \
  CODE(kInvalidPc, 718, cudaErrorInvalidPc)                           \
  CODE(kLaunchFailure, 719, cudaErrorLaunchFailure)                   \
  CODE(kSystemNotReady, 802, cudaErrorSystemNotReady)                 \
  CODE(kSystemDriverMismatch, 803, cudaErrorSystemDriverMismatch)     \
  CODE(kCompatNotSupported, 804, cudaErrorCompatNotSupportedOnDevice) \
  CODE(kMpsConnectionFailed, 805, cudaErrorMpsConnectionFailed)       \
  CODE(kMpsMaxClientsReached, 808, cudaErrorMpsMaxClientsReached)     \
  CODE(kMpsClientTerminated, 810, cudaErrorMpsClientTerminated)       \
  CODE(kExternalDevice, 911, cudaErrorExternalDevice)                 \
  CODE(kUnknownError, 999, cudaErrorUnknown)
#define MARGAY_TRANSFORM_CODES(CODE)                     \
  CODE(kTransformAllocFailed, 2, CUFFT_ALLOC_FAILED)     \
  CODE(kTransformInternalError, 5, CUFFT_INTERNAL_ERROR) \
  CODE(kTransformExecFailed, 6, CUFFT_EXEC_FAILED)       \
  CODE(kTransformSetupFailed, 7, CUFFT_SETUP_FAILED)     \
  CODE(kTransformNoWorkspace, 13, CUFFT_NO_WORKSPACE)

namespace engine::cuda {

#define MARGAY_CODE(name, number, theirs) name = number,
enum RuntimeCode : int {
  MARGAY_RUNTIME_CODES(MARGAY_CODE)  //
  kContained = 226,                  // not in every toolkit
};
enum TransformCode : int { MARGAY_TRANSFORM_CODES(MARGAY_CODE) };
#undef MARGAY_CODE

}  // namespace engine::cuda

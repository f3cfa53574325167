// The error codes known to errors.cpp, which is compiled without the CUDA toolkit. Each has our
// name, its number, the toolkit's name (a build with CUDA asserts that it has this number) and its
// Fault.
#pragma once

#define MARGAY_RUNTIME_CODES(CODE)                                                    \
  CODE(kInvalidValue, 1, cudaErrorInvalidValue, kBug)                                 \
  CODE(kMemoryAllocation, 2, cudaErrorMemoryAllocation, kOutOfMemory)                 \
  CODE(kInitializationError, 3, cudaErrorInitializationError, kDeviceLost)            \
  CODE(kInvalidConfiguration, 9, cudaErrorInvalidConfiguration, kBug)                 \
  CODE(kStubLibrary, 34, cudaErrorStubLibrary, kNoDriver)                             \
  CODE(kInsufficientDriver, 35, cudaErrorInsufficientDriver, kDriverTooOld)           \
  CODE(kDevicesUnavailable, 46, cudaErrorDevicesUnavailable, kDeviceBusy)             \
  CODE(kInvalidDeviceFunction, 98, cudaErrorInvalidDeviceFunction, kNoKernelImage)    \
  CODE(kNoDeviceFound, 100, cudaErrorNoDevice, kNoDevice)                             \
  CODE(kInvalidDevice, 101, cudaErrorInvalidDevice, kNoDevice)                        \
  CODE(kInvalidKernelImage, 200, cudaErrorInvalidKernelImage, kNoKernelImage)         \
  CODE(kNoKernelImageForDevice, 209, cudaErrorNoKernelImageForDevice, kNoKernelImage) \
  CODE(kEccUncorrectable, 214, cudaErrorECCUncorrectable, kDeviceLost)                \
  CODE(kInvalidPtx, 218, cudaErrorInvalidPtx, kNoKernelImage)                         \
  CODE(kNvlinkUncorrectable, 220, cudaErrorNvlinkUncorrectable, kDeviceLost)          \
  CODE(kUnsupportedPtxVersion, 222, cudaErrorUnsupportedPtxVersion, kDriverTooOld)    \
  CODE(kIllegalAddress, 700, cudaErrorIllegalAddress, kBug)                           \
  CODE(kLaunchOutOfResources, 701, cudaErrorLaunchOutOfResources, kBug)               \
  CODE(kLaunchTimeout, 702, cudaErrorLaunchTimeout, kDeviceLost)                      \
  CODE(kAssert, 710, cudaErrorAssert, kBug)                                           \
  CODE(kHardwareStackError, 714, cudaErrorHardwareStackError, kDeviceLost)            \
  CODE(kIllegalInstruction, 715, cudaErrorIllegalInstruction, kBug)                   \
  CODE(kMisalignedAddress, 716, cudaErrorMisalignedAddress, kBug)                     \
  CODE(kInvalidAddressSpace, 717, cudaErrorInvalidAddressSpace, kBug)                 \
  CODE(kInvalidPc, 718, cudaErrorInvalidPc, kBug)                                     \
  CODE(kLaunchFailure, 719, cudaErrorLaunchFailure, kDeviceLost)                      \
  CODE(kSystemNotReady, 802, cudaErrorSystemNotReady, kDeviceLost)                    \
  CODE(kSystemDriverMismatch, 803, cudaErrorSystemDriverMismatch, kDriverTooOld)      \
  CODE(kCompatNotSupported, 804, cudaErrorCompatNotSupportedOnDevice, kDriverTooOld)  \
  CODE(kMpsConnectionFailed, 805, cudaErrorMpsConnectionFailed, kDeviceBusy)          \
  CODE(kMpsMaxClientsReached, 808, cudaErrorMpsMaxClientsReached, kDeviceBusy)        \
  CODE(kMpsClientTerminated, 810, cudaErrorMpsClientTerminated, kDeviceLost)          \
  CODE(kExternalDevice, 911, cudaErrorExternalDevice, kDeviceLost)                    \
  CODE(kUnknownError, 999, cudaErrorUnknown, kDeviceLost)
#define MARGAY_TRANSFORM_CODES(CODE)                                  \
  CODE(kTransformAllocFailed, 2, CUFFT_ALLOC_FAILED, kOutOfMemory)    \
  CODE(kTransformInternalError, 5, CUFFT_INTERNAL_ERROR, kDeviceLost) \
  CODE(kTransformExecFailed, 6, CUFFT_EXEC_FAILED, kDeviceLost)       \
  CODE(kTransformSetupFailed, 7, CUFFT_SETUP_FAILED, kDeviceLost)     \
  CODE(kTransformNoWorkspace, 13, CUFFT_NO_WORKSPACE, kOutOfMemory)

namespace engine::cuda {

#define MARGAY_CODE(name, number, theirs, fault) name = number,
enum RuntimeCode : int {
  kContained = 226,  // not in every toolkit
  MARGAY_RUNTIME_CODES(MARGAY_CODE)
};
enum TransformCode : int { MARGAY_TRANSFORM_CODES(MARGAY_CODE) };
#undef MARGAY_CODE

}  // namespace engine::cuda

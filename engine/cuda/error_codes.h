// The codes that errors.cpp knows. A build with CUDA asserts that they are the toolkit's.
#pragma once

namespace engine::cuda {

enum RuntimeCode : int {
  kInvalidValue = 1,
  kMemoryAllocation = 2,
  kInitializationError = 3,
  kInvalidConfiguration = 9,
  kStubLibrary = 34,
  kInsufficientDriver = 35,
  kDevicesUnavailable = 46,
  kInvalidDeviceFunction = 98,
  kNoDeviceFound = 100,
  kInvalidDevice = 101,
  kInvalidKernelImage = 200,
  kNoKernelImageForDevice = 209,
  kEccUncorrectable = 214,
  kInvalidPtx = 218,
  kNvlinkUncorrectable = 220,
  kUnsupportedPtxVersion = 222,
  kContained = 226,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeout = 702,
  kAssert = 710,
  kHardwareStackError = 714,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kInvalidAddressSpace = 717,
  kInvalidPc = 718,
  kLaunchFailure = 719,
  kSystemNotReady = 802,
  kSystemDriverMismatch = 803,
  kCompatNotSupported = 804,
  kMpsConnectionFailed = 805,
  kMpsMaxClientsReached = 808,
  kMpsClientTerminated = 810,
  kExternalDevice = 911,
  kUnknownError = 999,
};

enum TransformCode : int {
  kTransformAllocFailed = 2,
  kTransformInternalError = 5,
  kTransformExecFailed = 6,
  kTransformSetupFailed = 7,
  kTransformNoWorkspace = 13,
};

}  // namespace engine::cuda

// Turns a device's errors into sentences and exit codes for the user. The functions are pure, so
// that they can be tested without a device. Codes are those of the CUDA runtime (cudaError_t) and
// of cuFFT (cufftResult), which are stable numbers.
#pragma once

#include <string>

#include "engine/error.h"

namespace engine::cuda {

enum class Fault {
  kNoDriver,
  kDriverTooOld,
  kNoDevice,
  kDeviceBusy,
  kOutOfMemory,
  kNoKernelImage,
  kDeviceLost,
  kBug,  // an invalid address or argument: a bug in the engine
  kOther,
};

// Where an error came from: the activity, the device, and the library's own message.
struct FaultReport {
  Fault fault = Fault::kOther;
  int code = 0;
  std::string words;     // "out of memory"
  std::string activity;  // "kernel extract_slices", "allocating 12 MB for the statistics"
  std::string device;    // "device 0, NVIDIA H200 (sm_90)"; empty before it is known
  std::string driver;    // newest CUDA version that the driver can serve, "12.4"; empty: unknown
  std::string toolkit;   // CUDA version that this build needs, "13.0"
};

// `driver_version` is that of cudaDriverGetVersion, 0 where there is no driver: the runtime has the
// same code for a missing driver and an old one.
Fault fault_of_runtime(int code, int driver_version);
Fault fault_of_transforms(int code);

// Makes an Error(kDeviceMemory) for kOutOfMemory, and an Error(kDeviceFault) for all other faults.
Error describe_fault(const FaultReport& report);

// Returns "13.0" for 13000.
std::string version_text(int version);

}  // namespace engine::cuda

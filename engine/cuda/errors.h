// What a device's errors mean to the user: which sentence, which exit code. Pure, so that it can be
// tested where there is no device. Codes are those of the CUDA runtime (cudaError_t) and of cuFFT
// (cufftResult), which are stable numbers.
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
  kOurMistake,  // an address or an argument that a right program does not have
  kOther,
};

// Where an error came from: what was being done, on what, and the library's own message.
struct FaultReport {
  Fault fault = Fault::kOther;
  int code = 0;
  std::string words;     // "out of memory"
  std::string activity;  // "kernel extract_slices", "allocating 12 MB for the statistics"
  std::string device;    // "device 0, NVIDIA H200 (sm_90)"; empty before it is known
  std::string driver;    // newest CUDA version that the driver can serve, "12.4"; empty: unknown
  std::string toolkit;   // CUDA version that this build needs, "13.0"
};

// `driver_version` as cudaDriverGetVersion gives it: 0 where there is no driver. The runtime has
// one code for no driver and for an old one.
Fault fault_of_runtime(int code, int driver_version);
Fault fault_of_transforms(int code);

// 71 for want of device memory, 70 for everything else.
Error describe_fault(const FaultReport& report);

// "13.0" of 13000.
std::string version_text(int version);

}  // namespace engine::cuda

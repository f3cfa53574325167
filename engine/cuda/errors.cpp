#include "engine/cuda/errors.h"

#include <span>

#include "engine/cuda/error_codes.h"

namespace engine::cuda {
namespace {

// What happened, and what the user can do about it.
struct Advice {
  std::string what, remedy;
};

Advice advice(const FaultReport& r) {
  switch (r.fault) {
    case Fault::kNoDriver:
      return {"there is no NVIDIA driver that programs can reach",
              "install the driver or, in a container, start it with the device (--gpus, --nv); to "
              "search on the processor, use --backend cpu"};
    case Fault::kDriverTooOld:
      return {"the NVIDIA driver is too old for this build of margay-engine: it serves CUDA " +
                  (r.driver.empty() ? "of an earlier release" : r.driver) + ", the build needs " +
                  r.toolkit,
              "update the driver, or build margay-engine with an older CUDA toolkit"};
    case Fault::kNoDevice:
      return {"no such NVIDIA device is visible to this process",
              "look at nvidia-smi, CUDA_VISIBLE_DEVICES and computational_config.gpu_ids; to "
              "search on the processor, use --backend cpu"};
    case Fault::kDeviceBusy:
      return {"the device is busy: another process has it for itself, or it takes no more",
              "see with nvidia-smi who holds it, and try again later or on another device"};
    case Fault::kOutOfMemory:
      return {"the device's memory is full",
              "see with nvidia-smi whether another process holds memory; use a smaller --batch, a "
              "smaller micrograph or template, or a device with more memory"};
    case Fault::kNoKernelImage:
      return {"this build of margay-engine has no code for this device's architecture",
              "build it with -DCMAKE_CUDA_ARCHITECTURES=native on this machine"};
    case Fault::kDeviceLost:
      return {"the device failed or was lost",
              "look for Xid messages in the kernel's log (dmesg) and at nvidia-smi; the device may "
              "need a reset or the machine a restart"};
    case Fault::kBug:
      return {"the program did something that the device refuses, which is a bug in Margay",
              "please report it with this message; --backend cpu gives the same maps meanwhile"};
    case Fault::kOther:
      return {"the device reported an error", "look at nvidia-smi and at the kernel's log (dmesg)"};
  }
  return {};
}

struct KnownCode {
  int code;
  Fault fault;
};
#define MARGAY_CODE(name, number, theirs, fault) {number, Fault::fault},
constexpr KnownCode kRuntimeCodes[] = {
    MARGAY_RUNTIME_CODES(MARGAY_CODE)  //
    {kContained, Fault::kDeviceLost},
};
constexpr KnownCode kTransformCodes[] = {MARGAY_TRANSFORM_CODES(MARGAY_CODE)};
#undef MARGAY_CODE

Fault find_fault(std::span<const KnownCode> codes, int code, Fault otherwise) {
  for (const KnownCode& known : codes) {
    if (known.code == code) return known.fault;
  }
  return otherwise;
}

}  // namespace

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Fault fault_of_runtime(int code, int driver_version) {
  if (code == kInsufficientDriver && driver_version == 0) return Fault::kNoDriver;
  return find_fault(kRuntimeCodes, code, Fault::kOther);
}

// The other codes are of a plan or an argument that is not right.
Fault fault_of_transforms(int code) { return find_fault(kTransformCodes, code, Fault::kBug); }

Error describe_fault(const FaultReport& r) {
  const Advice a = advice(r);
  std::string text = r.device.empty() ? a.what : r.device + ": " + a.what;
  text += " (" + r.activity + ": " + r.words + ", code " + std::to_string(r.code) +
          "). To do: " + a.remedy;
  return {r.fault == Fault::kOutOfMemory ? ExitCode::kDeviceMemory : ExitCode::kDeviceFault, text};
}

}  // namespace engine::cuda

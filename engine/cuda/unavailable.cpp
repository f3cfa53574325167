// Implements cuda_backend.h in a build without CUDA: every device is refused.
#include "engine/cuda/cuda_backend.h"
#include "engine/error.h"

namespace engine::cuda {

bool built_in() { return false; }

int visible_devices() { return 0; }

std::string device_identity(int) { return ""; }

DeviceFacts require_device(int) {
  if (!nvidia_device_present()) {
    throw InputError(
        "--backend cuda: this build of margay-engine has no CUDA backend and this machine has no "
        "NVIDIA device; use --backend cpu");
  }
  throw Error(ExitCode::kDeviceFault,
              "this machine has an NVIDIA device, but this build of margay-engine has no CUDA "
              "backend; to search on the processor all the same, use --backend cpu");
}

uint64_t transform_workspace(const ProblemShape&, const MemoryPlan&, int number) {
  require_device(number);
  return 0;
}

std::unique_ptr<Backend> make_cuda_backend(const Problem&, const MemoryPlan&, int number) {
  require_device(number);
  return nullptr;
}

}  // namespace engine::cuda

// Implements nvidia_device_present of cuda_backend.h.
#include <filesystem>

#include "engine/cuda/cuda_backend.h"

namespace engine::cuda {
namespace {

// A device node alone may be left over in a container, so the driver's own file is asked for, too.
bool kernel_driver_loaded() {
  std::error_code ignored;  // what cannot be seen is not there
  return std::filesystem::exists("/dev/nvidia0", ignored) &&
         std::filesystem::exists("/proc/driver/nvidia/version", ignored);
}

}  // namespace

bool nvidia_device_present() { return kernel_driver_loaded() || visible_devices() > 0; }

}  // namespace engine::cuda

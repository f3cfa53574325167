// The device of this machine, for the cases that tests/unit/engine/cuda/cases.h describes.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>

#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/cuda_device.h"
#include "engine/error.h"

namespace tests {

struct OnGpu {
  using Device = engine::cuda::CudaDevice;
  // MARGAY_SMALL_CASES is set under tools that slow a kernel down a hundredfold.
  static bool large_cases() { return std::getenv("MARGAY_SMALL_CASES") == nullptr; }

  static std::string missing() {
    try {
      engine::cuda::require_device(0);
      return "";
    } catch (const engine::Error& error) {
      return error.what();
    }
  }
  static std::unique_ptr<Device> make() {
    return std::make_unique<Device>(engine::cuda::require_device(0));
  }
};

}  // namespace tests

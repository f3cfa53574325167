// The device of this machine, for the cases that tests/unit/engine/cuda/cases.h describes.
#pragma once

#include <memory>
#include <string>

#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/cuda_device.h"
#include "engine/error.h"

namespace tests {

struct OnGpu {
  using Device = engine::cuda::CudaDevice;
  static constexpr bool kReal = true;

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

// Kernels on the CPU, for the typed suites of kernel_cases.h, search_cases.h and fused_cases.h.
#pragma once

#include "tests/fakes/simt_device.h"
//
#include <memory>
#include <string>

namespace tests {

struct OnCpu {
  using Device = SimtDevice;
  static bool large_cases() { return false; }
  static std::string missing() { return ""; }
  static std::unique_ptr<Device> make() { return std::make_unique<Device>(); }
};

}  // namespace tests

// The kernels on the CPU.
#include "tests/fakes/simt_device.h"
//
#include "tests/unit/engine/cuda/kernel_cases.h"

namespace tests {
namespace {

struct OnCpu {
  using Device = SimtDevice;
  static bool large_cases() { return false; }
  static std::string missing() { return ""; }
  static std::unique_ptr<Device> make() { return std::make_unique<Device>(); }
};
INSTANTIATE_TYPED_TEST_SUITE_P(OnTheCpu, CudaKernels, OnCpu);

}  // namespace
}  // namespace tests

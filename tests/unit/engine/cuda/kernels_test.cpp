// The kernels on the CPU.
#include "tests/unit/engine/cuda/on_cpu.h"
//
#include "tests/unit/engine/cuda/kernel_cases.h"

namespace tests {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(OnTheCpu, CudaKernels, OnCpu);

}  // namespace
}  // namespace tests

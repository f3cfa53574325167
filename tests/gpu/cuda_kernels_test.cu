// The kernels on a real device.
#include "engine/cuda/device_words.cuh"
//
#include "tests/gpu/on_gpu.h"
#include "tests/unit/engine/cuda/kernel_cases.h"

namespace tests {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(OnAGpu, CudaKernels, OnGpu);

}  // namespace
}  // namespace tests

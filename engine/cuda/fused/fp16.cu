// The fused path with fp16 in memory and in the arithmetic.
#include "engine/cuda/device_words.cuh"
#include "engine/cuda/fused/half_words.cuh"
//
#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/cuda_device.h"
#include "engine/cuda/device_backend.h"
#include "engine/cuda/fused/compiled_lengths.h"
#include "engine/cuda/fused/instantiate.h"
#include "engine/cuda/fused/precisions.h"

namespace engine::cuda {
namespace {

template <typename Device>
using Correlator = FusedCorrelator<Device, HalfArithmetic, CompiledLengths>;

}  // namespace

FusedKernels half_arithmetic_kernels() {
  return fused_kernels_of<HalfArithmetic, CompiledLengths>(Precision::kFp16);
}

std::unique_ptr<Backend> make_half_arithmetic_backend(const Problem& problem,
                                                      const MemoryPlan& plan, int number) {
  return std::make_unique<DeviceBackend<CudaDevice, Correlator>>(
      std::make_unique<CudaDevice>(require_device(number), plan.watch), problem, plan);
}

}  // namespace engine::cuda

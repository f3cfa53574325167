// The bodies of precisions.h, for the file that compiles one kind of storage.
#pragma once

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

template <typename Storage>
FusedKernels compiled_kernels(Precision precision) {
  return fused_kernels_of<Storage, CompiledLengths>(precision);
}

template <typename Storage>
struct OfStorage {
  template <typename Device>
  using Correlator = FusedCorrelator<Device, Storage, CompiledLengths>;
};

template <typename Storage>
std::unique_ptr<Backend> make_storage_backend(const Problem& problem, const MemoryPlan& plan,
                                              int number) {
  return std::make_unique<DeviceBackend<CudaDevice, OfStorage<Storage>::template Correlator>>(
      std::make_unique<CudaDevice>(require_device(number), plan.watch), problem, plan);
}

}  // namespace engine::cuda

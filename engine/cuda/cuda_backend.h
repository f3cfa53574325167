// What the rest of the engine sees of CUDA. In a build without CUDA unavailable.cpp implements it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/backend/backend.h"
#include "engine/cuda/cuda_memory.h"
#include "engine/cuda/device_facts.h"

namespace engine::cuda {

// True when this build has CUDA.
bool built_in();

// Devices that the CUDA runtime sees; none without a driver, and in a build without CUDA.
int visible_devices();

// True where an NVIDIA device is visible to the CUDA runtime or its kernel driver is loaded: such a
// machine is not searched on its processor by itself. Also true where the device cannot be used, by
// this build or at all.
bool nvidia_device_present();

// The UUID that tells a device, or an instance of one (MIG), from every other on any host, as
// nvidia-smi -L writes it; empty where it is not known.
std::string device_identity(int number);

// Opens the device. Throws Error(kDeviceFault) when there is none, or it cannot be used; InputError
// when neither this build nor this machine has anything to do with CUDA.
DeviceFacts require_device(int number);

// Bytes of work space that the library transforms of a search need on the device. Of `plan`
// only the numbers of transforms and projections count, and `fused`, where the projections' alone
// are cuFFT's.
uint64_t transform_workspace(const ProblemShape& shape, const MemoryPlan& plan, int number);

// `problem` must outlive the backend. Throws Error(kDeviceMemory) when the device's memory is gone.
std::unique_ptr<Backend> make_cuda_backend(const Problem& problem, const MemoryPlan& plan,
                                           int number);

}  // namespace engine::cuda

// The interface of the CUDA code to the rest of the engine. In a build without CUDA unavailable.cpp
// implements it.
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

// Returns how many devices the CUDA runtime sees; 0 without a driver and in a build without CUDA.
int visible_devices();

// True where the CUDA runtime sees an NVIDIA device or its kernel driver is loaded, even if the
// device cannot be used: "auto" does not choose the CPU on such a machine.
bool nvidia_device_present();

// Returns the UUID of a device or of an instance of one (MIG), which is unique over all hosts, as
// nvidia-smi -L writes it; empty where it is not known.
std::string device_identity(int number);

// Opens the device. Throws Error(kDeviceFault) when there is no such device or it cannot be used,
// and InputError when this build has no CUDA and this machine has no NVIDIA device.
DeviceFacts require_device(int number);

// Returns the bytes of work space that a search's cuFFT transforms need on the device. Of `plan` it
// uses the numbers of transforms and projections, and `fused`: with it only projections use cuFFT.
uint64_t transform_workspace(const ProblemShape& shape, const MemoryPlan& plan, int number);

// `problem` must outlive the backend. Throws Error(kDeviceMemory) when the device's memory is full,
// and as require_device() does.
std::unique_ptr<Backend> make_cuda_backend(const Problem& problem, const MemoryPlan& plan,
                                           int number);

}  // namespace engine::cuda

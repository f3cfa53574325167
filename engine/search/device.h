// Which device a search runs on, and whether it fits there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/cuda/cuda_memory.h"
#include "engine/launch/gpu_ids.h"
#include "engine/launch/rank_identity.h"
#include "engine/results/manifest.h"

namespace engine {

struct DeviceOptions {
  std::string backend = "auto";    // auto, cpu, cuda
  int threads = 0;                 // CPU: 0 = every core this process may use
  int batch = 0;                   // units in flight, 0: chosen
  int device = 0;                  // CUDA: which of the devices that this process sees
  uint64_t exchange = 0;           // CUDA: bytes for exchanging data with other ranks
  std::string fft = "auto";        // auto, fused; CPU: fftw; CUDA: cufft
  std::string precision = "fp32";  // fp32; CUDA: fp16
};

// What the device is going to hold, shrunk to fit the memory that is free; `notes` has a sentence
// for what was shrunk.
struct DevicePlan {
  std::string backend;
  int threads = 1;
  int batch = 1;
  int device = 0;
  std::string fft = "fused";       // fftw, cufft
  std::string precision = "fp32";  // fp16
  std::string tiling;              // of CUDA's fused path, as describe_tiling has it
  std::vector<MemoryItem> memory;
  uint64_t bytes = 0;
  uint64_t memory_limit = 0;  // bytes that were free, 0 unknown
  std::vector<std::string> notes;
  // What make_backend makes.
  std::variant<cpu::MemoryPlan, cuda::MemoryPlan> work;
};

// The device of this rank; 0 on processors. Throws UsageError when it has none of its own.
int device_of(const RankPlace& place, const std::string& backend);

// The devices that computational_config.gpu_ids may choose from: none for a search on processors.
VisibleDevices devices_for(const std::string& backend);

// Bytes that each of so many ranks with CUDA devices needs to exchange data by these collectives
// (RankGroupOptions).
uint64_t exchange_memory(const std::string& collectives, int ranks);

// Tells the device from every other one, so that ranks see when two have the same
// (shared_devices.h); empty for processors.
std::string identity_of(const DeviceOptions& options);

// "auto" takes the CPU only where no NVIDIA device exists. Throws InputError for a backend that
// this build does not have, Error(kDeviceFault) for a device that is there but cannot be used.
std::string choose_backend(const std::string& wanted, int device = 0);
// Throws Error(kDeviceMemory), too, when even the smallest batch does not fit, and UsageError or
// InputError for transforms that this search, build or device cannot have.
DevicePlan plan_device(const ProblemShape& shape, const DeviceOptions& options);
// A sentence for the user where gpu_ids asks for other devices than the search has; else empty.
std::string devices_note(const DevicePlan& plan, const std::vector<std::string>& gpu_ids);
DeviceInfo describe_device(const DevicePlan& plan);
// The ways of transforming that this build has, each with its precision and, where they are few,
// its lengths: "cufft fp32", "fused fp32 512 2304"; the processor's are first.
std::vector<std::string> transforms_of_this_build();
// What computes, for people: "cpu, fused fp32 in vectors of 8 floats (AVX2), 2 threads".
std::string describe_workers(const DevicePlan& plan);
// How fast it will be, of one rank that searches alone.
struct PredictedRate {
  double correlations_per_second = 0;
  bool measured = false;  // on this machine, now; else right within a factor of three
};
// Measures for about a second where it can, which is on the processor by the fused path.
PredictedRate predict_rate(const ProblemShape& shape, const DevicePlan& plan, bool may_measure);
// One line for people: the bytes of the whole and of its parts.
std::string describe_memory(const DevicePlan& plan);
// Makes the backend that `plan` describes, of the very sizes that it shows; `problem` must outlive
// it.
std::unique_ptr<Backend> make_backend(const Problem& problem, const DevicePlan& plan);

}  // namespace engine

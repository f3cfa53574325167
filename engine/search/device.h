// Chooses the device that a search runs on, and plans the search to fit its memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/cuda/cuda_memory.h"
#include "engine/launch/gpu_ids.h"
#include "engine/launch/rank_identity.h"
#include "engine/numerics/search_grid.h"
#include "engine/results/manifest.h"

namespace engine {

// Returns the shape of a search on `grid` (search_grid_of()), of which `shape` has the sides of the
// micrograph and the template.
ProblemShape on_grid(ProblemShape shape, const std::optional<SearchGrid>& grid);

// The memory within which a search on the CPU is planned unless it may use more, in GB.
constexpr double kUsualGigabytes = static_cast<double>(cpu::kUsualMemory) / 1e9;

struct DeviceOptions {
  std::string backend = "auto";     // auto, cpu, cuda
  int threads = 0;                  // CPU: 0 = every core this process may use
  int batch = 0;                    // units in flight; 0: automatic
  double memory = kUsualGigabytes;  // CPU: GB for fused transforms to be planned within
  int device = 0;                   // CUDA: which of the devices that this process sees
  uint64_t exchange = 0;            // CUDA: bytes for exchanging data with other ranks
  std::string fft = "auto";         // auto, fused; CPU: fftw; CUDA: cufft
  std::string precision = "fp32";   // fp32; CUDA: fp16
};

// A search planned for a device, shrunk to fit the free memory; `notes` has a sentence about what
// was shrunk.
struct DevicePlan {
  std::string backend;
  int threads = 1;
  int batch = 1;
  int device = 0;
  std::string fft = "fused";       // fftw, cufft
  std::string precision = "fp32";  // fp16
  std::string tiling;              // of CUDA's fused path, from describe_tiling(); else empty
  std::vector<MemoryItem> memory;
  uint64_t bytes = 0;
  uint64_t memory_limit = 0;  // bytes that were free; 0: not known
  std::vector<std::string> notes;
  // The plan from which make_backend() makes the backend.
  std::variant<cpu::MemoryPlan, cuda::MemoryPlan> work;
};

// Returns the index of this rank's device; 0 on the CPU. Throws UsageError when the rank has no
// device of its own.
int device_of(const RankPlace& place, const std::string& backend);

// Returns the devices from which computational_config.gpu_ids may choose; none for the CPU.
VisibleDevices devices_for(const std::string& backend);

// Returns the bytes of device memory that each of `ranks` CUDA ranks needs to exchange data;
// `collectives` is RankGroupOptions::collectives.
uint64_t exchange_memory(const std::string& collectives, int ranks);

// Returns a name that is unique to the device, by which ranks find that they share one
// (shared_devices.h); empty for the CPU.
std::string identity_of(const DeviceOptions& options);

// Returns "cpu" or "cuda"; "auto" becomes the CPU only where there is no NVIDIA device. Throws
// UsageError for another name, InputError for a backend that this build does not have, and
// Error(kDeviceFault) for a device that exists but cannot be used.
std::string choose_backend(const std::string& wanted, int device = 0);
// Plans a search on the chosen device. Throws as choose_backend() does, Error(kDeviceMemory) when
// even the smallest batch does not fit, and UsageError or InputError for transforms that this
// search, build or device cannot have.
DevicePlan plan_device(const ProblemShape& shape, const DeviceOptions& options);
// Returns the options of a search in fp32 by which errors are measured: the same path, or for fp16
// the fused one, which is its only one.
DeviceOptions in_single_precision(DeviceOptions options);
// Adds to the plan of a search on `grid` what it takes before and after: its error is measured by
// `sample`, beside which the search's own problem lies already, and the maps get the pixels of the
// micrograph, whose shape is `whole`. Throws Error(kDeviceMemory) where that is not free.
void add_crop_memory(DevicePlan& plan, const ProblemShape& whole, const SearchGrid& grid,
                     const DeviceOptions& sample);
// Returns a sentence for the user where gpu_ids names other devices than the search uses; else an
// empty text.
std::string devices_note(const DevicePlan& plan, const std::vector<std::string>& gpu_ids);
DeviceInfo describe_device(const DevicePlan& plan);
// Returns the kinds of transforms in this build, each with its precision and, where only some
// lengths are compiled, these: "cufft fp32", "fused fp32 512 2304". The CPU's come first.
std::vector<std::string> transforms_of_this_build();
// Describes for people what computes: "cpu, fused fp32 in vectors of 8 floats (AVX2), 2 threads".
std::string describe_workers(const DevicePlan& plan);
// The predicted speed of one rank that searches alone.
struct PredictedRate {
  double correlations_per_second = 0;
  bool measured = false;  // just now on this machine; else right within a factor of three
};
// With `may_measure` it measures for about a second on the CPU's fused path; all other rates are
// estimates.
PredictedRate predict_rate(const ProblemShape& shape, const DevicePlan& plan, bool may_measure);
// Describes the memory of the plan and its parts in one line for people.
std::string describe_memory(const DevicePlan& plan);
// Makes the backend that `plan` describes, with exactly its sizes. `problem` must outlive it.
std::unique_ptr<Backend> make_backend(const Problem& problem, const DevicePlan& plan);

}  // namespace engine

// The CUDA backend in a build with CUDA.
#include "engine/cuda/device_words.cuh"
//
#include <algorithm>
#include <memory>
#include <string>

#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/cuda_device.h"
#include "engine/cuda/device_backend.h"
#include "engine/cuda/plane_correlator.h"

namespace engine::cuda {
namespace {

// Of the free memory, left for what the driver and cuFFT take for themselves.
constexpr uint64_t kReserve = uint64_t{256} << 20;

std::string cufft_version() {
  int version = 0;
  check_transforms(TransformLibrary().get_version(&version), "asking cuFFT for its version");
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 100) + "." +
         std::to_string(version % 100);
}

std::string driver_version_text() {
  int version = 0;
  check_runtime(cudaDriverGetVersion(&version), "asking for the driver's version");
  return version_text(version);
}

DeviceFacts facts_of(int number) {
  DeviceFacts facts;
  facts.number = number;
  cudaDeviceProp properties{};
  check_runtime(cudaGetDeviceProperties(&properties, number), "looking at the device",
                "device " + std::to_string(number));
  facts.name = properties.name;
  facts.architecture = "sm_" + std::to_string(properties.major) + std::to_string(properties.minor);
  facts.shared_bytes = properties.sharedMemPerBlockOptin;
  facts.multiprocessor = {.shared_bytes = properties.sharedMemPerMultiprocessor,
                          .reserved_bytes = properties.reservedSharedMemPerBlock,
                          .registers = properties.regsPerMultiprocessor,
                          .threads = properties.maxThreadsPerMultiProcessor,
                          .blocks = properties.maxBlocksPerMultiProcessor};
  facts.libraries = {{"cuda", version_text(CUDART_VERSION)},
                     {"cuda driver", driver_version_text()},
                     {"cufft", cufft_version()}};
  return facts;
}

// Opens the device, and finds out now rather than in the search whether it takes our kernels.
void open(DeviceFacts& facts) {
  const std::string text = device_text(facts);
  check_runtime(cudaSetDevice(facts.number), "opening the device", text);
  cudaFuncAttributes attributes{};
  check_runtime(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(accumulate)),
                "loading kernel accumulate", text);
  size_t free = 0;
  size_t all = 0;
  check_runtime(cudaMemGetInfo(&free, &all), "asking for the free memory", text);
  facts.free_memory = free > kReserve ? free - kReserve : 1;
}

}  // namespace

bool built_in() { return true; }

int visible_devices() {
  int count = 0;
  // An error means that there is none that could be used; require_device says why.
  const cudaError_t code = cudaGetDeviceCount(&count);
  return code == cudaSuccess ? count : 0;
}

DeviceFacts require_device(int number) {
  int count = 0;
  check_runtime(cudaGetDeviceCount(&count), "looking for devices");
  if (number >= count) {
    check_runtime(cudaErrorInvalidDevice, "looking for device " + std::to_string(number) +
                                              " among " + std::to_string(count));
  }
  DeviceFacts facts = facts_of(number);
  open(facts);
  return facts;
}

uint64_t transform_workspace(const ProblemShape& shape, const MemoryPlan& plan, int number) {
  check_runtime(cudaSetDevice(number), "opening the device", "device " + std::to_string(number));
  const uint64_t projections = workspace_of(Planes{shape.template_size, plan.projections});
  if (plan.fused) return projections;
  const PlaneLines lines = plane_lines(shape, plan.transforms);
  return std::max({projections, workspace_of(lines.template_rows), workspace_of(lines.columns),
                   workspace_of(lines.valid_rows)});
}

std::unique_ptr<Backend> make_cuda_backend(const Problem& problem, const MemoryPlan& plan,
                                           int number) {
  return std::make_unique<DeviceBackend<CudaDevice, PlaneCorrelator>>(
      std::make_unique<CudaDevice>(facts_of(number), plan.watch), problem, plan);
}

}  // namespace engine::cuda

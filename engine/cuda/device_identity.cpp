// Implements device_identity of cuda_backend.h.
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "base/hex.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/shared_library.h"
#include "engine/error.h"

namespace engine::cuda {
namespace {

// The text of `nvidia-smi -L`.
std::string text_of(const CUuuid& uuid, const std::string& device_name) {
  std::string text = device_name.find(" MIG ") == std::string::npos ? "GPU-" : "MIG-";
  for (size_t i = 0; i < std::size(uuid.bytes); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += base::hex_of({uuid.bytes + i, 1});
  }
  return text;
}

// The driver's function distinguishes the instances of one device (MIG).
CUresult uuid_by_driver(CUuuid& uuid, int number) {
  const SharedLibrary driver(
      {.what = "the NVIDIA driver", .names = {"libcuda.so.1"}, .folders = {}, .remedy = ""});
  CUresult (*get)(CUuuid*, CUdevice) = nullptr;
  driver.find("cuDeviceGetUuid_v2", get);
  return get(&uuid, number);
}

}  // namespace

std::string device_identity(int number) {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, number) != cudaSuccess) return "";
  CUuuid uuid{};
  try {
    if (uuid_by_driver(uuid, number) != CUDA_SUCCESS) return "";
  } catch (const Error&) {
    return "";  // opening the device reports what is wrong with the driver
  }
  const bool known = std::any_of(std::begin(uuid.bytes), std::end(uuid.bytes),
                                 [](char byte) { return byte != 0; });
  return known ? text_of(uuid, properties.name) : "";
}

}  // namespace engine::cuda

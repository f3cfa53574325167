// Implements make_nccl() of engine/comm/factory.h. It opens NCCL's library when it is needed, so
// that the program starts without it, and makes the stage on the device.
#include <cuda_runtime.h>

#include <memory>
#include <string>

#include "engine/comm/factory.h"
#include "engine/comm/nccl_group.h"
#include "engine/comm/nccl_memory.h"
#include "engine/cuda/check_runtime.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/shared_library.h"
#include "engine/error.h"

namespace engine::comm {
namespace {

cuda::LibrarySearch nccl_search() {
  return {.what = "NCCL",
          .names = {"libnccl.so.2"},
          .folders = {MARGAY_NCCL_FOLDER, "/usr/local/cuda/lib64", "/usr/local/cuda/lib",
                      "/usr/local/lib", "/usr/lib/x86_64-linux-gnu"},
          .remedy =
              "install NCCL (libnccl2), or name the folder that has it in LD_LIBRARY_PATH; to "
              "search with one device, start one rank"};
}

NcclFunctions open_nccl() {
  const cuda::SharedLibrary library(nccl_search());
  NcclFunctions nccl;
  library.find("ncclGetUniqueId", nccl.get_unique_id);
  library.find("ncclCommInitRankConfig", nccl.init_rank);
  library.find("ncclCommGetAsyncError", nccl.get_async_error);
  library.find("ncclCommFinalize", nccl.finalize);
  library.find("ncclCommDestroy", nccl.destroy);
  library.find("ncclCommAbort", nccl.abort);
  library.find("ncclGetErrorString", nccl.error_string);
  library.find("ncclGetLastError", nccl.last_error);
  library.find("ncclBroadcast", nccl.broadcast);
  library.find("ncclReduce", nccl.reduce);
  return nccl;
}

class DeviceStage : public NcclStage {
 public:
  explicit DeviceStage(int device) : device_(device) {
    cuda::check_runtime(cudaSetDevice(device), "opening the device", words());
    cuda::check_runtime(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
                        "making a stream", words());
    const cudaError_t code = cudaMalloc(&memory_, kNcclStage);
    if (code != cudaSuccess) cudaStreamDestroy(stream_);
    cuda::check_runtime(code, "taking memory to exchange data with other ranks", words());
  }

  ~DeviceStage() override {
    cudaFree(memory_);
    cudaStreamDestroy(stream_);
  }
  DeviceStage(const DeviceStage&) = delete;
  DeviceStage& operator=(const DeviceStage&) = delete;

  size_t size() const override { return kNcclStage; }
  void* memory() const override { return memory_; }
  cudaStream_t stream() const override { return stream_; }

  void take_device() override {
    cuda::check_runtime(cudaSetDevice(device_), "opening the device", words());
  }
  void put(const void* from, size_t bytes) override {
    copy(memory_, from, bytes, cudaMemcpyHostToDevice);
  }
  void get(void* to, size_t bytes) override { copy(to, memory_, bytes, cudaMemcpyDeviceToHost); }
  bool idle() override {
    const cudaError_t code = cudaStreamQuery(stream_);
    if (code == cudaErrorNotReady) return false;
    cuda::check_runtime(code, "exchanging data with other ranks", words());
    return true;
  }

 private:
  std::string words() const { return "device " + std::to_string(device_); }
  void copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    cuda::check_runtime(cudaMemcpyAsync(to, from, bytes, kind, stream_),
                        "copying what ranks exchange", words());
    cuda::check_runtime(cudaStreamSynchronize(stream_), "copying what ranks exchange", words());
  }

  const int device_;
  cudaStream_t stream_ = nullptr;
  void* memory_ = nullptr;
};

}  // namespace

bool has_nccl() {
  try {
    open_nccl();
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::unique_ptr<Communicator> make_nccl(const GroupConfig& config, Store& store, int device) {
  cuda::require_device(device);
  return make_nccl_group(config, store, open_nccl(), std::make_unique<DeviceStage>(device));
}

}  // namespace engine::comm

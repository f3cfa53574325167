// The real device: memory and launches by the CUDA runtime, transforms by cuFFT, all in one stream.
// Only nvcc can compile this header. device_concept.h describes the functions.
#pragma once

#include <cuda_runtime.h>
#include <cufft.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "engine/cuda/check_runtime.h"
#include "engine/cuda/cufft_library.h"
#include "engine/cuda/device_concept.h"
#include "engine/cuda/device_facts.h"
#include "engine/cuda/errors.h"
#include "engine/cuda/launch_observer.h"

namespace engine::cuda {

// Does what check_runtime() does for codes of cuFFT.
void check_transforms(cufftResult code, const std::string& activity,
                      const std::string& device = "");

// Returns for example "device 0, NVIDIA H200 (sm_90)".
std::string device_text(const DeviceFacts& facts);

class CudaDevice {
 public:
  // `watch` must outlive the device; null: nobody watches.
  explicit CudaDevice(const DeviceFacts& facts, LaunchWatch* watch = nullptr);
  ~CudaDevice();
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  template <typename T>
  class Buffer {
   public:
    Buffer(CudaDevice& device, const char* what, size_t count)
        : data_(static_cast<T*>(device.take(what, count * sizeof(T)))), size_(count) {}
    Buffer(Buffer&& other) noexcept : data_(other.data_), size_(other.size_) {
      other.data_ = nullptr;
    }
    Buffer& operator=(Buffer&&) = delete;
    ~Buffer() { cudaFree(data_); }
    T* data() { return data_; }
    const T* data() const { return data_; }
    size_t size() const { return size_; }

   private:
    T* data_;
    size_t size_;
  };

  // A small piece of host memory that the device copies from or to while it works.
  class Stage {
   public:
    Stage(CudaDevice& device, size_t bytes);
    ~Stage();
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;

   protected:
    // Waits for the last copy and returns its bytes.
    void* wait() const;

   private:
    friend class CudaDevice;
    CudaDevice& device_;
    void* data_ = nullptr;
    cudaEvent_t copied_ = nullptr;
  };
  template <typename T>
  class Later : public Stage {
   public:
    explicit Later(CudaDevice& device) : Stage(device, sizeof(T)) {}
    T get() const { return *static_cast<const T*>(wait()); }
  };
  template <typename T>
  void fetch(const Buffer<T>& from, Later<T>& to) {
    send(from.data(), sizeof(T), to);
  }

  template <typename T>
  void upload(Buffer<T>& to, const T* from, size_t count) {
    if (count * sizeof(T) <= kStageBytes) {
      send_staged(from, count * sizeof(T), to.data());
    } else {
      copy(to.data(), from, count * sizeof(T), cudaMemcpyHostToDevice);
      wait();
    }
  }
  template <typename T>
  void download(const Buffer<T>& from, T* to, size_t count) {
    copy(to, from.data(), count * sizeof(T), cudaMemcpyDeviceToHost);
    wait();
  }
  template <typename T>
  void clear(Buffer<T>& buffer) {
    fill_with_zeros(buffer.data(), buffer.size() * sizeof(T));
  }

  template <typename... Parameters, typename... Arguments>
  void launch(const char* name, void (*kernel)(Parameters...), dim3 grid, dim3 block,
              size_t shared_bytes, Arguments... arguments) {
    const auto threads = static_cast<int>(block.x * block.y * block.z);
    allow_shared(name, reinterpret_cast<const void*>(kernel), threads, shared_bytes);
    if (watch_ != nullptr) watch_->before(name, stream_);
    kernel<<<grid, block, shared_bytes, stream_>>>(arguments...);
    launched(name);
  }

  // A cuFFT plan. It shares the device's work space with all other plans.
  class Plan {
   public:
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

   protected:
    Plan(CudaDevice& device, std::string name);
    ~Plan();

   private:
    friend class CudaDevice;
    CudaDevice& device_;
    std::string name_;
    cufftHandle handle_ = 0;
  };
  class LinePlan : public Plan {
   public:
    LinePlan(CudaDevice& device, const Lines& lines);
  };
  class PlanePlan : public Plan {
   public:
    PlanePlan(CudaDevice& device, const Planes& planes);
  };

  void allocate_workspace();
  void forward(LinePlan& plan, const float2* in, float2* out);
  void inverse(LinePlan& plan, const float2* in, float2* out);
  void back_transform(PlanePlan& plan, float2* in, float* out);

 private:
  void* take(const char* what, size_t bytes);
  void copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
  void fill_with_zeros(void* data, size_t bytes);
  void allow_shared(const char* name, const void* kernel, int threads, size_t bytes);
  void launched(const char* name);
  void send(const void* from, size_t bytes, Stage& to);
  // Waits only for the copy kStages before this one, whose stage it uses.
  void send_staged(const void* from, size_t bytes, void* to);
  void wait();
  template <typename Function, typename... Arguments>
  void transform(const Plan& plan, Function function, Arguments... arguments);
  void add(Plan& plan, size_t workspace);
  void check(cudaError_t code, const std::string& activity) const;
  void check(cufftResult code, const std::string& activity) const;

  TransformLibrary library_;
  std::string text_;
  Multiprocessor multiprocessor_;
  std::string last_;  // the name of the last work that was started
  LaunchWatch* watch_;
  cudaStream_t stream_ = nullptr;
  // A batch uploads two small pieces, so that there is room for two batches.
  static constexpr size_t kStages = 4;
  static constexpr size_t kStageBytes = 64 * 1024;
  std::deque<Stage> stages_;
  size_t uploads_ = 0;
  std::vector<Plan*> plans_;
  size_t workspace_bytes_ = 0;
  void* workspace_ = nullptr;
};

// Both return the bytes of work space that a plan needs.
uint64_t workspace_of(const Lines& lines);
uint64_t workspace_of(const Planes& planes);

}  // namespace engine::cuda

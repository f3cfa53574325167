// Observes the launches of a device, for the benchmark, which times them. A search has no observer.
#pragma once

struct CUstream_st;  // CUDA's stream

namespace engine::cuda {

class LaunchWatch {
 public:
  virtual ~LaunchWatch() = default;
  // Called before and after a kernel or a library transform of this name is put into the stream.
  // `name` lives as long as the call.
  virtual void before(const char* name, CUstream_st* stream) = 0;
  virtual void after(const char* name, CUstream_st* stream) = 0;
};

}  // namespace engine::cuda

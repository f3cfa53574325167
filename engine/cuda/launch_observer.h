// Observes the launches of a device: the benchmark times them. A search has no observer.
#pragma once

struct CUstream_st;  // CUDA's stream

namespace engine::cuda {

class LaunchWatch {
 public:
  virtual ~LaunchWatch() = default;
  // A kernel or a library's transform of this name is about to go into the stream, and went. `name`
  // lives as long as the call.
  virtual void before(const char* name, CUstream_st* stream) = 0;
  virtual void after(const char* name, CUstream_st* stream) = 0;
};

}  // namespace engine::cuda

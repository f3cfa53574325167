// A block of device memory and a stream, by which ranks exchange data.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace engine::comm {

class NcclStage {
 public:
  virtual ~NcclStage() = default;
  // The size of the block in bytes.
  virtual size_t size() const = 0;
  virtual void* memory() const = 0;
  virtual cudaStream_t stream() const = 0;

  // The functions below throw Error(kDeviceFault) after a fault of the device.
  // Makes this device the calling thread's current one.
  virtual void take_device() = 0;
  virtual void put(const void* from, size_t bytes) = 0;
  virtual void get(void* to, size_t bytes) = 0;
  // Returns true when all work on the stream is done.
  virtual bool idle() = 0;
};

}  // namespace engine::comm

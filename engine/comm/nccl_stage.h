// Where data lie on a device while ranks exchange them: a block of its memory and a stream.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace engine::comm {

class NcclStage {
 public:
  virtual ~NcclStage() = default;
  // Bytes that fit.
  virtual size_t size() const = 0;
  virtual void* memory() const = 0;
  virtual cudaStream_t stream() const = 0;

  // All of these throw Error(kDeviceFault) after a fault of the device.
  // Makes the device that of the thread that calls.
  virtual void take_device() = 0;
  virtual void put(const void* from, size_t bytes) = 0;
  virtual void get(void* to, size_t bytes) = 0;
  // Whether all is done that was begun on the stream.
  virtual bool idle() = 0;
};

}  // namespace engine::comm

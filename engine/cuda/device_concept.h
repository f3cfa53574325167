// The interface by which the search uses a device, which holds arrays, launches kernels and does
// library transforms. CudaDevice (cuda_device.h) is the real one; the tests run the same code on
// the CPU with tests/fakes/simt_device.h. Headers with templates over a Device need CUDA's types
// included before them: <cuda_runtime.h> and device_words.cuh, or tests/fakes/simt.h.
//
// A Device has
//   Buffer<T>(device, what, count)      count elements on the device, contents undefined;
//                                       data(), size(). `what` names it in messages
//   upload(buffer, from, count)         from the host; `from` may be changed afterwards
//   download(buffer, to, count)         to the host, after all work so far; `to` is complete
//   Later<T>(device), fetch(buffer, later), later.get()
//                                       the first element to the host as it is after all work so
//                                       far; get() waits for that work and for none that came after
//   clear(buffer)                       bytes of zero
//   launch(name, kernel, grid, block, shared_bytes, arguments...)
//   LinePlan(device, lines), PlanePlan(device, planes)
//   allocate_workspace()                after plans were made, before the first transform
//   forward(plan, in, out), inverse(plan, in, out), back_transform(plan, in, out)
// Work is done in the order of the calls. A fault throws Error, in the same or in a later call.
#pragma once

#include <algorithm>
#include <cstdint>

namespace engine::cuda {

// Complex lines that one call transforms, unnormalised, in place or not. Element i of line k lies
// at k x distance + i x stride.
struct Lines {
  int length = 0;
  int64_t count = 0;
  int64_t stride = 1;
  int64_t distance = 0;
};

// Consecutive half-planes, n x (n/2+1), that one call turns into real images, n x n, unnormalised.
// The half-planes are overwritten.
struct Planes {
  int n = 0;
  int count = 0;
};

// The most threads of a block; kernels that reduce within a block have exactly this many.
constexpr unsigned kBlockThreads = 256;

// Both are for blocks that cover a line of `count` elements: the threads of each, and the number of
// blocks.
constexpr unsigned threads_for(int64_t count) {
  return static_cast<unsigned>(std::min<int64_t>(kBlockThreads, (count + 31) / 32 * 32));
}
constexpr unsigned blocks_for(int64_t count) {
  return static_cast<unsigned>((count + threads_for(count) - 1) / threads_for(count));
}

}  // namespace engine::cuda

// Short names for a launch's shared memory and for asynchronous copies into it. The tests, which
// run the same kernels on the CPU, replace them (tests/fakes/simt_sync.h).
#pragma once

#include <cuda_pipeline.h>

// Returns the shared memory that the launch asked for, aligned to 16 bytes; its contents are
// undefined when a block starts. A kernel places all its shared arrays in it.
template <typename T>
__device__ __forceinline__ T* shared_memory() {
  extern __shared__ __align__(16) unsigned char shared_memory_of_the_launch[];
  return reinterpret_cast<T*>(shared_memory_of_the_launch);
}

// Begins to copy 16 bytes from global to shared memory, bypassing L1; both are aligned to 16 bytes.
__device__ __forceinline__ void copy_16_bytes_ahead(void* shared, const void* global) {
  __pipeline_memcpy_async(shared, global, 16);
}
// Ends the list of copies for which wait_for_copies_ahead() waits.
__device__ __forceinline__ void close_copies_ahead() { __pipeline_commit(); }
// Returns when this thread's copies are in shared memory.
__device__ __forceinline__ void wait_for_copies_ahead() { __pipeline_wait_prior(0); }

// What the kernels need and CUDA lacks, or has under longer names: the one block of shared memory
// of a launch, and copies into it that a thread does not wait for. The tests, which run the same
// kernels on the CPU, have their own (tests/fakes/simt_sync.h).
#pragma once

#include <cuda_pipeline.h>

// As many bytes as the launch asked for, aligned to 16, their contents undefined when a block
// starts. A kernel carves all its arrays from here.
template <typename T>
__device__ __forceinline__ T* shared_memory() {
  extern __shared__ __align__(16) unsigned char shared_memory_of_the_launch[];
  return reinterpret_cast<T*>(shared_memory_of_the_launch);
}

// Begins to copy 16 bytes from global to shared memory, both aligned to 16, past L1.
__device__ __forceinline__ void copy_16_bytes_ahead(void* shared, const void* global) {
  __pipeline_memcpy_async(shared, global, 16);
}
// Ends the list of copies that wait_for_copies_ahead is about.
__device__ __forceinline__ void close_copies_ahead() { __pipeline_commit(); }
// Returns when this thread's copies are in shared memory.
__device__ __forceinline__ void wait_for_copies_ahead() { __pipeline_wait_prior(0); }

// What the kernels need and CUDA lacks: the one block of shared memory of a launch. The tests,
// which run the same kernels on the CPU, have their own (tests/fakes/simt_block.h).
#pragma once

// As many bytes as the launch asked for, aligned to 16, their contents undefined when a block
// starts. A kernel carves all its arrays from here.
template <typename T>
__device__ __forceinline__ T* shared_memory() {
  extern __shared__ __align__(16) unsigned char shared_memory_of_the_launch[];
  return reinterpret_cast<T*>(shared_memory_of_the_launch);
}

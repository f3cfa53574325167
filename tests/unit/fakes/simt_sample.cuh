// Small kernels with which the runner is tested; nvcc compiles them too.
#pragma once

namespace tests {

// Sums of `block` values each: a tree over shared memory, then over a warp, then one atomic.
template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    sum(const int* __restrict__ values, int count, unsigned long long* __restrict__ total) {
  int* partial = shared_memory<int>();
  const int thread = static_cast<int>(threadIdx.x);
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  partial[thread] = at < count ? __ldg(values + at) : 0;
  __syncthreads();
#pragma unroll
  for (int half = kThreads / 2; half >= 32; half /= 2) {
    if (thread < half) partial[thread] += partial[thread + half];
    __syncthreads();
  }
  if (thread >= 32) return;
  int mine = partial[thread];
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, lanes);
  if (thread == 0) atomicAdd(total, static_cast<unsigned long long>(mine));
}

// Each thread hands its value to the next one, with and without the barrier that this takes.
template <bool kWithBarrier>
__global__ void rotate(const int* in, int* out) {
  int* buffer = shared_memory<int>();
  buffer[threadIdx.x] = in[threadIdx.x];
  if (kWithBarrier) __syncthreads();
  out[threadIdx.x] = buffer[(threadIdx.x + 1) % blockDim.x];
}

// Twice through one buffer: the second barrier keeps the fast from overwriting what the slow still
// read.
template <bool kWithBarrier>
__global__ void rotate_twice(const int* in, int* out) {
  int* buffer = shared_memory<int>();
  int mine = in[threadIdx.x];
  for (int round = 0; round < 2; ++round) {
    buffer[threadIdx.x] = mine;
    __syncthreads();
    mine = buffer[(threadIdx.x + 1) % blockDim.x];
    if (kWithBarrier) __syncthreads();
  }
  out[threadIdx.x] = mine;
}

// The same within a warp.
template <bool kWithBarrier>
__global__ void rotate_in_warp(const float* in, float* out) {
  float* buffer = shared_memory<float>();
  buffer[threadIdx.x] = in[threadIdx.x];
  if (kWithBarrier) __syncwarp();
  out[threadIdx.x] = buffer[(threadIdx.x & ~31u) | ((threadIdx.x + 1) & 31u)];
}

}  // namespace tests

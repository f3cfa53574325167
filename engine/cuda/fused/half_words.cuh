// Two fp16 numbers in 32 bits, and CUDA's functions for their arithmetic. The tests replace them
// (tests/fakes/half_words.h).
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

__device__ __forceinline__ __half2 halves_of_word(uint32_t word) {
  return *reinterpret_cast<const __half2*>(&word);
}
__device__ __forceinline__ uint32_t word_of_halves(__half2 halves) {
  return *reinterpret_cast<const uint32_t*>(&halves);
}

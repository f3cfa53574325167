// The places of a line's points while a block transforms it. Pure index arithmetic.
//
// A line of L = R0 x R1 x R2 points is transformed in place in three stages, decimation in
// frequency: stage s cuts every run of N(s) points into R(s) of M(s) = N(s) / R(s) points and
// transforms across them (N(0) = L, N(1) = R1 R2, N(2) = R2). A *butterfly* is one such transform
// of R(s) points; butterfly b of stage s owns the positions position(s, b, i), 0 <= i < R(s), and
// reads and writes no other, so that one barrier between two stages is enough. The frequencies end
// in permuted order, and the inverse transform (decimation in time) takes them in that order, so
// that nothing ever has to be reordered.
//
// In global memory a spectrum is in *stored order*: point i of the last stage's butterfly b is at
// i x L / R2 + b, so that neighbouring threads access neighbouring words.
#pragma once

#include "engine/cuda/fused_tuning.h"

namespace engine::cuda {

template <int kL>
struct FftOrder {
  using R = RadicesOf<kL>;
  static constexpr int kLength = kL;
  static constexpr int kThreads = kL / R::kFirst;  // per line: one first butterfly each

  __host__ __device__ static constexpr int radix(int stage) {
    return stage == 0 ? R::kFirst : stage == 1 ? R::kMiddle : R::kLast;
  }
  __host__ __device__ static constexpr int butterflies(int stage) { return kL / radix(stage); }
  // Butterflies that a thread does one after the other (some threads do one less).
  __host__ __device__ static constexpr int rounds(int stage) {
    return (butterflies(stage) + kThreads - 1) / kThreads;
  }
  __host__ __device__ static constexpr int run(int stage) {  // N(stage)
    return stage == 0 ? kL : stage == 1 ? R::kMiddle * R::kLast : R::kLast;
  }
  __host__ __device__ static constexpr int stride(int stage) {
    return run(stage) / radix(stage);
  }  // M(stage)

  // A stage's outputs (forward) or inputs (inverse) are multiplied by W(N)^(offset x i).
  __host__ __device__ static constexpr int offset(int stage, int butterfly) {
    return butterfly % stride(stage);
  }

  __host__ __device__ static constexpr int position(int stage, int butterfly, int i) {
    return butterfly / stride(stage) * run(stage) + offset(stage, butterfly) + i * stride(stage);
  }

  // The layout in shared memory. Gaps keep the threads of half a warp on different banks: one point
  // after every run of the last stage where its length is even, and kRunGap points after every run
  // of the middle stage, so that its butterflies continue from one run to the next without a jump
  // modulo 16.
  static constexpr int kLastRun = R::kLast % 2 == 0 ? R::kLast + 1 : R::kLast;
  static constexpr int kRunGap = ((R::kLast - R::kMiddle * kLastRun) % 16 + 16) % 16;
  static constexpr int kMiddleRun = R::kMiddle * kLastRun + kRunGap;
  static constexpr int kSharedPoints = R::kFirst * kMiddleRun;
  __host__ __device__ static constexpr int address(int position) {
    return position / run(1) * kMiddleRun + position % run(1) / run(2) * kLastRun +
           position % run(2);
  }
  // address(position(stage, b, i)) = address(position(stage, b, 0)) + i x address_stride(stage).
  __host__ __device__ static constexpr int address_stride(int stage) {
    return stage == 0 ? kMiddleRun : stage == 1 ? kLastRun : 1;
  }

  // The distance from a thread's butterfly b of a stage to its next one, b + kThreads, where
  // kThreads = N(1).
  __host__ __device__ static constexpr int address_round(int stage) {
    return radix(stage) * kMiddleRun;
  }

  // The frequency, 0 <= k < L, that a position holds after the last stage.
  __host__ __device__ static constexpr int frequency(int position) {
    return position / run(1) + R::kFirst * (position % run(1) / run(2)) +
           R::kFirst * R::kMiddle * (position % run(2));
  }
  __host__ __device__ static constexpr int stored(int butterfly, int i) {
    return i * butterflies(2) + butterfly;
  }
  __host__ __device__ static constexpr int stored_frequency(int index) {
    return frequency(position(2, index % butterflies(2), index / butterflies(2)));
  }

  // The table of the stages' roots: W(N(0))^(o i) at i M(0) + o, then W(N(1))^(o i) at
  // L + i M(1) + o.
  static constexpr int kRoots = kL + run(1);
  __host__ __device__ static constexpr int root(int stage, int butterfly, int i) {
    return (stage == 0 ? 0 : kL) + i * stride(stage) + offset(stage, butterfly);
  }

  static_assert(R::kFirst * R::kMiddle * R::kLast == kL);
  static_assert(stride(0) % kChunkLines == 0, "the exchange has whole chunks of lines");
};

}  // namespace engine::cuda

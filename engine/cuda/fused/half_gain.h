// Rounding the roots to fp16 scales a correlation's peak, since every term of its sum is multiplied
// by such roots. The mean gain can be computed beforehand (it differs from 1 by up to 6e-4 for a
// transform and back), and the tiles' spectra are divided by it.
//
// Include after <cuda_runtime.h> or the emulator (tests/fakes/simt.h).
#pragma once

#include "engine/cuda/fused/fft_order.cuh"
#include "engine/cuda/fused/fft_roots.cuh"
#include "engine/cuda/fused/half_points.cuh"

namespace engine::cuda {

// Arithmetic in double, with constants rounded to fp16.
struct ExactReal {
  double value;
};
struct ExactPoint {
  ExactReal x, y;
};
__host__ __device__ inline ExactReal plus(ExactReal a, ExactReal b) { return {a.value + b.value}; }
__host__ __device__ inline ExactReal minus(ExactReal a, ExactReal b) { return {a.value - b.value}; }
__host__ __device__ inline ExactReal times(ExactReal a, ExactReal b) { return {a.value * b.value}; }
__host__ __device__ inline ExactReal negative(ExactReal a) { return {-a.value}; }
__host__ __device__ inline ExactReal fused(ExactReal a, ExactReal b, ExactReal c) {
  return {a.value * b.value + c.value};
}
template <>
struct Constant<ExactReal> {
  __host__ __device__ static constexpr ExactReal of(double value) {
    return {RoundedToHalf(value).value};
  }
};

// Returns the mean gain of a transform of kPoints points of which the first `inputs` are not 0: the
// mean, over the elements of its matrix, of the rounded element divided by the exact one.
template <int kPoints>
double gain_of_points(int inputs = kPoints) {
  double sum = 0;
  for (int i = 0; i < inputs; ++i) {
    ExactPoint x[kPoints] = {};
    x[i].x.value = 1;
    transform_points<kPoints, false>(x);
    for (int k = 0; k < kPoints; ++k) {
      sum +=
          x[k].x.value * roots::cosine(i * k, kPoints) - x[k].y.value * roots::sine(i * k, kPoints);
    }
  }
  return sum / (inputs * kPoints);
}

inline double gain_of_root(int turn, int turns) {
  const double cosine = roots::cosine(turn, turns);
  const double sine = roots::sine(turn, turns);
  return cosine * RoundedToHalf(cosine).value + sine * RoundedToHalf(sine).value;
}

// Returns the mean gain of the roots between two stages.
template <int kLength>
double gain_of_roots(int stage) {
  using Order = FftOrder<kLength>;
  const int run = Order::run(stage);
  double sum = 0;
  for (int i = 0; i < Order::radix(stage); ++i) {
    for (int offset = 0; offset < Order::stride(stage); ++offset) {
      sum += gain_of_root(i * offset, run);
    }
  }
  return sum / run;
}

// Returns the mean gain of a line's transform in fp16, forward or inverse, with the first `given`
// points not 0.
template <int kLength>
double gain_of_line(int given = kLength) {
  using Order = FftOrder<kLength>;
  const int inputs = (given + Order::stride(0) - 1) / Order::stride(0);
  return gain_of_points<Order::radix(0)>(inputs) * gain_of_points<Order::radix(1)>() *
         gain_of_points<Order::radix(2)>() * gain_of_roots<kLength>(0) * gain_of_roots<kLength>(1);
}

// Returns the mean gain of a line's transform in two stages (columns_in_two.cuh).
template <int kLength>
double gain_of_line_in_two(int given = kLength) {
  constexpr int kRadix = radix_in_two(kLength);
  double sum = 0;
  for (int i = 0; i < kRadix; ++i) {
    for (int r = 0; r < kRadix; ++r) sum += gain_of_root(i * r, kLength);
  }
  return gain_of_points<kRadix>((given + kRadix - 1) / kRadix) * gain_of_points<kRadix>() * sum /
         kLength;
}

// Returns the mean gain of a column's forward and inverse transforms.
template <int kRows>
double gain_of_column(int n, ColumnKernel kernel) {
  if constexpr (radix_in_two(kRows) > 0) {
    if (kernel == ColumnKernel::kInTwo) {
      return gain_of_line_in_two<kRows>(n) * gain_of_line_in_two<kRows>();
    }
  }
  return gain_of_line<kRows>(n) * gain_of_line<kRows>();
}

// Returns the mean gain of a correlation with a template of n pixels in tiles of kRows x kColumns.
// The last stage of the inverse row transforms counts as exact, since its last level is in single
// precision (finish_inverse()).
template <int kRows, int kColumns>
double gain_of_correlation(int n, ColumnKernel kernel) {
  return gain_of_column<kRows>(n, kernel) * gain_of_line<kColumns>(n) * gain_of_line<kColumns>() /
         gain_of_points<FftOrder<kColumns>::radix(0)>();
}

}  // namespace engine::cuda

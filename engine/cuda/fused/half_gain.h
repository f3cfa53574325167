// What rounding constants and roots to halves does to a peak: each is a little too long or too
// short, and a correlation's peak is the sum of numbers that have all met them. Their mean is known
// beforehand, up to 6e-4 for a transform and back, and is divided out with the spectra.
//
// Needs CUDA's words before it.
#pragma once

#include "engine/cuda/fused/fft_order.cuh"
#include "engine/cuda/fused/fft_roots.cuh"
#include "engine/cuda/fused/half_points.cuh"

namespace engine::cuda {

// Exact arithmetic with constants as halves have them.
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

// The mean of the transform's matrix over that of the exact one, place by place: of numbers that
// are all as large. Only the first `inputs` are other than 0.
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

// Of the roots between two stages.
template <int kLength>
double gain_of_roots(int stage) {
  using Order = FftOrder<kLength>;
  const int run = Order::run(stage);
  double sum = 0;
  for (int i = 0; i < Order::radix(stage); ++i) {
    for (int offset = 0; offset < Order::stride(stage); ++offset) {
      const double cosine = roots::cosine(i * offset, run);
      const double sine = roots::sine(i * offset, run);
      sum += cosine * RoundedToHalf(cosine).value + sine * RoundedToHalf(sine).value;
    }
  }
  return sum / run;
}

// Of a transform in halves, forward or inverse, with `given` points other than 0.
template <int kLength>
double gain_of_line(int given = kLength) {
  using Order = FftOrder<kLength>;
  const int inputs = (given + Order::stride(0) - 1) / Order::stride(0);
  return gain_of_points<Order::radix(0)>(inputs) * gain_of_points<Order::radix(1)>() *
         gain_of_points<Order::radix(2)>() * gain_of_roots<kLength>(0) * gain_of_roots<kLength>(1);
}

// Of a correlation with a template of n pixels in tiles of kRows x kColumns. What the first stage's
// butterflies multiply by, the last rows do in single precision (finish_inverse).
template <int kRows, int kColumns>
double gain_of_correlation(int n) {
  return gain_of_line<kRows>(n) * gain_of_line<kRows>() * gain_of_line<kColumns>(n) *
         gain_of_line<kColumns>() / gain_of_points<FftOrder<kColumns>::radix(0)>();
}

}  // namespace engine::cuda

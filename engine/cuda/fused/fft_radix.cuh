// Discrete Fourier transforms of a few points in the registers of one thread. Forward sign
// exp(-2 pi i ...), unnormalised, results in natural order. Everything is unrolled, so that the
// arrays stay in registers; fused multiply-adds are explicit, so that the bits do not depend on
// what the compiler fuses.
//
// A Point is a complex number { x, y }: float2, or a type whose parts hold several lines at once
// (half_points.cuh). The functions plus, minus, ... are overloaded for the type of the parts.
#pragma once

#include <utility>

namespace engine::cuda {

// An index that the compiler knows.
template <int kIndex>
struct Index {
  __host__ __device__ constexpr operator int() const { return kIndex; }
};

// Calls body(Index<0>) ... body(Index<kCount - 1>).
template <int kCount, typename Body>
__host__ __device__ __forceinline__ void unrolled(Body&& body) {
  [&]<int... kIndex>(std::integer_sequence<int, kIndex...>) { (body(Index<kIndex>{}), ...); }
  (std::make_integer_sequence<int, kCount>{});
}

namespace roots {

constexpr double kPi = 3.14159265358979323846;

// Taylor series of cosine and sine, for |x| <= pi / 4.
__host__ __device__ constexpr double near_cosine(double x) {
  double term = 1;
  double sum = 1;
  for (int k = 1; k < 12; ++k) {
    term *= -x * x / ((2 * k - 1) * (2 * k));
    sum += term;
  }
  return sum;
}
__host__ __device__ constexpr double near_sine(double x) {
  double term = x;
  double sum = x;
  for (int k = 1; k < 12; ++k) {
    term *= -x * x / ((2 * k) * (2 * k + 1));
    sum += term;
  }
  return sum;
}

// Cosine and sine of `turn` / `turns` of a full turn, reduced to the eighth of a turn in which the
// series is accurate.
__host__ __device__ constexpr double cosine(int turn, int turns) {
  turn %= turns;
  if (2 * turn > turns) return cosine(turns - turn, turns);
  if (4 * turn > turns) return -cosine(turns - 2 * turn, 2 * turns);
  if (8 * turn > turns) return near_sine(kPi * (turns - 4 * turn) / (2 * turns));
  return near_cosine(2 * kPi * turn / turns);
}
__host__ __device__ constexpr double sine(int turn, int turns) {
  return cosine(4 * turn + 3 * turns, 4 * turns);
}

}  // namespace roots

__host__ __device__ __forceinline__ float plus(float a, float b) { return a + b; }
__host__ __device__ __forceinline__ float minus(float a, float b) { return a - b; }
__host__ __device__ __forceinline__ float times(float a, float b) { return a * b; }
__host__ __device__ __forceinline__ float negative(float a) { return -a; }
// Returns a x b + c, rounded once.
__host__ __device__ __forceinline__ float fused(float a, float b, float c) { return fmaf(a, b, c); }

// Makes a compile-time number, the same for all lines.
template <typename Real>
struct Constant {
  __host__ __device__ static constexpr Real of(double value) { return static_cast<Real>(value); }
};
template <typename Point>
using RealOf = decltype(Point::x);

template <typename Point>
__host__ __device__ __forceinline__ Point sum_of(Point a, Point b) {
  return {plus(a.x, b.x), plus(a.y, b.y)};
}
template <typename Point>
__host__ __device__ __forceinline__ Point difference_of(Point a, Point b) {
  return {minus(a.x, b.x), minus(a.y, b.y)};
}
template <typename Point>
__host__ __device__ __forceinline__ Point fused_product(Point a, Point b) {
  return {fused(a.x, b.x, negative(times(a.y, b.y))), fused(a.x, b.y, times(a.y, b.x))};
}
// Returns a x conj(b).
template <typename Point>
__host__ __device__ __forceinline__ Point conjugate_product(Point a, Point b) {
  return {fused(a.x, b.x, times(a.y, b.y)), fused(a.y, b.x, negative(times(a.x, b.y)))};
}

// Returns a - i b in a forward transform, a + i b in an inverse one; minus_turned() has the other
// sign.
template <bool kInverse, typename Point>
__host__ __device__ __forceinline__ Point plus_turned(Point a, Point b) {
  if constexpr (kInverse) return {minus(a.x, b.y), plus(a.y, b.x)};
  return {plus(a.x, b.y), minus(a.y, b.x)};
}
template <bool kInverse, typename Point>
__host__ __device__ __forceinline__ Point minus_turned(Point a, Point b) {
  return plus_turned<!kInverse>(a, b);
}

// Returns a x exp(-2 pi i kTurn / kTurns); in an inverse transform a times the conjugate.
template <bool kInverse, int kTurn, int kTurns, typename Point>
__host__ __device__ __forceinline__ Point root_product(Point a) {
  if constexpr (kTurn % kTurns == 0) {
    return a;
  } else if constexpr (4 * kTurn == kTurns) {
    return kInverse ? Point{negative(a.y), a.x} : Point{a.y, negative(a.x)};
  } else {
    using Number = Constant<RealOf<Point>>;
    constexpr auto kCosine = Number::of(roots::cosine(kTurn, kTurns));
    constexpr auto kSine =
        Number::of(kInverse ? roots::sine(kTurn, kTurns) : -roots::sine(kTurn, kTurns));
    return fused_product(a, Point{kCosine, kSine});
  }
}

template <bool kInverse, typename Point>
__host__ __device__ __forceinline__ void transform_of_3(Point* x) {
  using Number = Constant<RealOf<Point>>;
  constexpr double kHalfRootOf3 = kInverse ? -roots::sine(1, 3) : roots::sine(1, 3);
  constexpr auto kTurn = Number::of(kHalfRootOf3);
  constexpr auto kTurnBack = Number::of(-kHalfRootOf3);
  constexpr auto kMinusHalf = Number::of(-0.5);
  const Point sum = sum_of(x[1], x[2]);
  const Point difference = difference_of(x[1], x[2]);
  const Point middle = {fused(kMinusHalf, sum.x, x[0].x), fused(kMinusHalf, sum.y, x[0].y)};
  x[0] = sum_of(x[0], sum);
  x[1] = {fused(kTurn, difference.y, middle.x), fused(kTurnBack, difference.x, middle.y)};
  x[2] = {fused(kTurnBack, difference.y, middle.x), fused(kTurn, difference.x, middle.y)};
}

// Reads only the first kInputs of the four points; the others count as 0.
template <bool kInverse, int kInputs, typename Point>
__host__ __device__ __forceinline__ void transform_of_4(Point* x) {
  if constexpr (kInputs == 1) {
    x[1] = x[2] = x[3] = x[0];
  } else if constexpr (kInputs == 2) {
    const Point a = x[0];
    const Point b = x[1];
    x[0] = sum_of(a, b);
    x[1] = plus_turned<kInverse>(a, b);
    x[2] = difference_of(a, b);
    x[3] = minus_turned<kInverse>(a, b);
  } else {
    const Point third = kInputs == 4 ? x[3] : Point{};
    const Point even_sum = sum_of(x[0], x[2]);
    const Point even_difference = difference_of(x[0], x[2]);
    const Point odd_sum = sum_of(x[1], third);
    const Point odd_difference = difference_of(x[1], third);
    x[0] = sum_of(even_sum, odd_sum);
    x[1] = plus_turned<kInverse>(even_difference, odd_difference);
    x[2] = difference_of(even_sum, odd_sum);
    x[3] = minus_turned<kInverse>(even_difference, odd_difference);
  }
}

// Returns kFirst of a transform of kFirst x kSecond points, which is done as kFirst transforms of
// kSecond points (of every kFirst-th input) and then kSecond transforms of kFirst points.
__host__ __device__ constexpr int first_factor(int points) {
  // 48 points are 3 x 16, so that a quarter of the inputs is a quarter of each 16.
  return points == 48 || points == 9 ? 3 : points % 4 == 0 && points != 8 ? 4 : 2;
}

// Transforms x[0] ... x[kPoints - 1] in place. Only the first kInputs are read, and the others
// count as 0; kInputs is kPoints or a multiple of kPoints / 4.
template <int kPoints, bool kInverse, int kInputs = kPoints, typename Point>
__host__ __device__ __forceinline__ void transform_points(Point* x) {
  if constexpr (kPoints == 2) {
    const Point b = x[1];
    x[1] = kInputs == 1 ? x[0] : difference_of(x[0], b);
    if constexpr (kInputs == 2) x[0] = sum_of(x[0], b);
  } else if constexpr (kPoints == 3) {
    transform_of_3<kInverse>(x);
  } else if constexpr (kPoints == 4) {
    transform_of_4<kInverse, kInputs>(x);
  } else {
    constexpr int kFirst = first_factor(kPoints);
    constexpr int kSecond = kPoints / kFirst;
    static_assert(kFirst * kSecond == kPoints);
    static_assert(kInputs % kFirst == 0);
    Point part[kFirst][kSecond];
    unrolled<kFirst>([&](auto a) {
      unrolled<kInputs / kFirst>([&](auto b) { part[a][b] = x[a + kFirst * b]; });
      transform_points<kSecond, kInverse, kInputs / kFirst>(part[a]);
    });
    unrolled<kSecond>([&](auto k) {
      Point across[kFirst];
      unrolled<kFirst>([&](auto a) {
        across[a] = root_product<kInverse, (a * k) % kPoints, kPoints>(part[a][k]);
      });
      transform_points<kFirst, kInverse>(across);
      unrolled<kFirst>([&](auto j) { x[k + kSecond * j] = across[j]; });
    });
  }
}

}  // namespace engine::cuda

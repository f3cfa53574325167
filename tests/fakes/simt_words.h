// CUDA's names that stand for types, places and numbers, with the meaning that they have in CUDA
// (C++ Programming Guide; its rounding and its conversions out of range from the PTX manual).
// Device functions that CUDA calls approximate are exact here but for the last rounding.
#pragma once

#include <math.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#define __global__ __attribute__((unused))
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

// NOLINTBEGIN(readability-identifier-naming): the names are CUDA's.
struct alignas(8) int2 {
  int x, y;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) double2 {
  double x, y;
};
struct int3 {
  int x, y, z;
};
struct uint3 {
  unsigned x, y, z;
};
struct float3 {
  float x, y, z;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct dim3 {
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  unsigned x, y, z;
};
// NOLINTEND(readability-identifier-naming)

inline int2 make_int2(int x, int y) { return {x, y}; }
inline int3 make_int3(int x, int y, int z) { return {x, y, z}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float3 make_float3(float x, float y, float z) { return {x, y, z}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline double2 make_double2(double x, double y) { return {x, y}; }

// The indices of the thread that is running. Kernels only read them.
extern constinit thread_local uint3 threadIdx;
extern constinit thread_local uint3 blockIdx;
extern constinit thread_local dim3 blockDim;
extern constinit thread_local dim3 gridDim;
inline constexpr int warpSize = 32;

#define MARGAY_SIMT_MIN_MAX(type)                           \
  inline type min(type a, type b) { return b < a ? b : a; } \
  inline type max(type a, type b) { return a < b ? b : a; }
MARGAY_SIMT_MIN_MAX(int)
MARGAY_SIMT_MIN_MAX(unsigned)
MARGAY_SIMT_MIN_MAX(long)
MARGAY_SIMT_MIN_MAX(unsigned long)
MARGAY_SIMT_MIN_MAX(long long)
MARGAY_SIMT_MIN_MAX(unsigned long long)
#undef MARGAY_SIMT_MIN_MAX
// The number, when the other one is not.
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }

inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float rsqrtf(float x) { return static_cast<float>(1.0 / sqrt(static_cast<double>(x))); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }

namespace tests::simt {

// Converts a number that is rounded already, clamped to the range. PTX gives 0 for what is not
// a number, but the smallest integer where 64 bits are on either side.
template <typename Integer, typename Real>
Integer to_integer(Real rounded) {
  using Limits = std::numeric_limits<Integer>;
  if (std::isnan(rounded)) {
    return sizeof(Integer) == 8 || sizeof(Real) == 8 ? Limits::min() : Integer{0};
  }
  const Real end = std::ldexp(Real{1}, Limits::digits);  // the first that does not fit
  if (rounded >= end) return Limits::max();
  if (rounded < -end) return Limits::min();
  return static_cast<Integer>(rounded);
}

void sine_and_cosine_of_pi(double x, double* sine, double* cosine);

}  // namespace tests::simt

inline int __float2int_rn(float x) { return tests::simt::to_integer<int>(rintf(x)); }
inline int __float2int_rd(float x) { return tests::simt::to_integer<int>(floorf(x)); }
inline int __double2int_rn(double x) { return tests::simt::to_integer<int>(rint(x)); }
inline int __double2int_rd(double x) { return tests::simt::to_integer<int>(floor(x)); }
inline long long __float2ll_rn(float x) { return tests::simt::to_integer<long long>(rintf(x)); }
inline long long __double2ll_rn(double x) { return tests::simt::to_integer<long long>(rint(x)); }
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline double __ll2double_rn(long long x) { return static_cast<double>(x); }
inline double __int2double_rn(int x) { return x; }
inline float __double2float_rn(double x) { return static_cast<float>(x); }

inline void sincospi(double x, double* sine, double* cosine) {
  tests::simt::sine_and_cosine_of_pi(x, sine, cosine);
}
inline void sincospif(float x, float* sine, float* cosine) {
  double s = 0.0;
  double c = 0.0;
  tests::simt::sine_and_cosine_of_pi(x, &s, &c);
  *sine = static_cast<float>(s);
  *cosine = static_cast<float>(c);
}

inline int __popc(unsigned x) { return std::popcount(x); }
inline int __popcll(unsigned long long x) { return std::popcount(x); }
inline int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }
inline int __ffs(int x) { return x == 0 ? 0 : std::countr_zero(static_cast<unsigned>(x)) + 1; }
unsigned __brev(unsigned x);

namespace tests::simt {

// Bytes that kernels have moved by words with a hint on caching, all together.
struct Traffic {
  std::atomic<uint64_t> read_once = 0;     // __ldcs
  std::atomic<uint64_t> read_from_l2 = 0;  // __ldcg
  std::atomic<uint64_t> written_once = 0;  // __stcs
};
inline Traffic traffic;

}  // namespace tests::simt

// A cache hint changes no value.
template <typename T>
T __ldg(const T* address) {
  return *address;
}
template <typename T>
T __ldcs(const T* address) {
  tests::simt::traffic.read_once.fetch_add(sizeof(T), std::memory_order_relaxed);
  return *address;
}
template <typename T>
T __ldcg(const T* address) {
  tests::simt::traffic.read_from_l2.fetch_add(sizeof(T), std::memory_order_relaxed);
  return *address;
}
template <typename T>
void __stcs(T* address, std::type_identity_t<T> value) {
  tests::simt::traffic.written_once.fetch_add(sizeof(T), std::memory_order_relaxed);
  *address = value;
}
template <typename T>
void __stcg(T* address, std::type_identity_t<T> value) {
  *address = value;
}

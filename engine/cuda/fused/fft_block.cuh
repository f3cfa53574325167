// A block of threads transforms kLines lines of kLength points at once, in registers with exchanges
// through shared memory. Thread t of the block works on line t % kLines, as number t / kLines of
// the FftOrder<kLength>::kThreads threads of that line: neighbouring threads have neighbouring
// lines, which is how the lines lie in global memory. (Where a Point holds several lines, these are
// groups of them.)
//
// The caller puts __syncthreads() between the stages; see fft_order.cuh for why one is enough.
#pragma once

#include "engine/cuda/fused/fft_order.cuh"
#include "engine/cuda/fused/fft_radix.cuh"

namespace engine::cuda {

__device__ __forceinline__ float2 load_root(const float2* root) { return __ldg(root); }

template <int kLength, int kLinesAtOnce, typename Point = float2, typename Root = float2>
class BlockFft {
 public:
  using Order = FftOrder<kLength>;
  static constexpr int kLines = kLinesAtOnce;
  static constexpr int kThreads = Order::kThreads * kLines;            // of the block
  static constexpr int kSharedPoints = Order::kSharedPoints * kLines;  // of `exchange`
  static constexpr int kFirst = Order::radix(0);
  static constexpr int kLast = Order::radix(2);

  // `roots`: Order::kRoots of them, see fft_roots.cuh.
  __device__ BlockFft(Point* exchange, const Root* roots)
      : line_(static_cast<int>(threadIdx.x) % kLines),
        thread_(static_cast<int>(threadIdx.x) / kLines),
        exchange_(exchange + line_),
        roots_(roots) {}

  __device__ int line() const { return line_; }
  __device__ int thread() const { return thread_; }

  // Forward from x[i] = point thread() + i x stride(0), of which the first kInputs may be other
  // than 0; into shared memory.
  template <int kInputs>
  __device__ __forceinline__ void forward_first(Point (&x)[kFirst]) {
    transform_points<kFirst, false, kInputs>(x);
    turn_and_store<0>(thread_, x);
  }
  __device__ __forceinline__ void forward_middle() {
    for_each_butterfly<1>([&](int butterfly) {
      Point x[Order::radix(1)];
      load<1>(butterfly, x);
      transform_points<Order::radix(1), false>(x);
      turn_and_store<1>(butterfly, x);
    });
  }
  // The last stage's butterflies of this thread, one after the other: use(butterfly). Forward:
  // take_last, then the point x[i] is the frequency stored(butterfly, i). Inverse: give_last.
  template <typename Use>
  __device__ __forceinline__ void for_each_last(Use&& use) {
    for_each_butterfly<2>(use);
  }
  __device__ __forceinline__ void take_last(int butterfly, Point (&x)[kLast]) {
    load<2>(butterfly, x);
    transform_points<kLast, false>(x);
  }
  __device__ __forceinline__ void give_last(int butterfly, Point (&x)[kLast]) {
    transform_points<kLast, true>(x);
    Point* at = place<2>(butterfly);
    unrolled<kLast>([&](auto i) { at[i * Order::address_stride(2) * kLines] = x[i]; });
  }
  __device__ __forceinline__ void inverse_middle() {
    for_each_butterfly<1>([&](int butterfly) {
      Point x[Order::radix(1)];
      load_and_turn_back<1>(butterfly, x);
      transform_points<Order::radix(1), true>(x);
      Point* at = place<1>(butterfly);
      unrolled<Order::radix(1)>([&](auto i) { at[i * Order::address_stride(1) * kLines] = x[i]; });
    });
  }
  // x[i] = point thread() + i x stride(0).
  __device__ __forceinline__ void inverse_first(Point (&x)[kFirst]) {
    take_first(x);
    transform_points<kFirst, true>(x);
  }
  // What inverse_first transforms.
  __device__ __forceinline__ void take_first(Point (&x)[kFirst]) {
    load_and_turn_back<0>(thread_, x);
  }

 private:
  template <int kStage>
  __device__ __forceinline__ Point* place(int butterfly) {
    return exchange_ + Order::address(Order::position(kStage, butterfly, 0)) * kLines;
  }
  template <int kStage, int kRadix>
  __device__ __forceinline__ void load(int butterfly, Point (&x)[kRadix]) {
    const Point* at = place<kStage>(butterfly);
    unrolled<kRadix>([&](auto i) { x[i] = at[i * Order::address_stride(kStage) * kLines]; });
  }
  template <int kStage, int kRadix>
  __device__ __forceinline__ void turn_and_store(int butterfly, const Point (&x)[kRadix]) {
    Point* at = place<kStage>(butterfly);
    const Root* roots = roots_ + Order::root(kStage, butterfly, 0);
    at[0] = x[0];
    unrolled<kRadix - 1>([&](auto before) {
      constexpr int i = before + 1;
      at[i * Order::address_stride(kStage) * kLines] =
          fused_product(x[i], load_root(roots + i * Order::stride(kStage)));
    });
  }
  template <int kStage, int kRadix>
  __device__ __forceinline__ void load_and_turn_back(int butterfly, Point (&x)[kRadix]) {
    const Point* at = place<kStage>(butterfly);
    const Root* roots = roots_ + Order::root(kStage, butterfly, 0);
    x[0] = at[0];
    unrolled<kRadix - 1>([&](auto before) {
      constexpr int i = before + 1;
      x[i] = conjugate_product(at[i * Order::address_stride(kStage) * kLines],
                               load_root(roots + i * Order::stride(kStage)));
    });
  }
  template <int kStage, typename Use>
  __device__ __forceinline__ void for_each_butterfly(Use&& use) {
    constexpr int kButterflies = Order::butterflies(kStage);
    unrolled<Order::rounds(kStage)>([&](auto round) {
      const int butterfly = thread_ + round * Order::kThreads;
      if constexpr ((round + 1) * Order::kThreads <= kButterflies) {
        use(butterfly);
      } else {
        if (butterfly < kButterflies) use(butterfly);
      }
    });
  }

  int line_;
  int thread_;
  Point* exchange_;
  const Root* roots_;
};

}  // namespace engine::cuda

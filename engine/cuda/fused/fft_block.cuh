// A block of threads transforms kLines lines of kLength points at once, in registers and with
// exchanges through shared memory. Thread t of the block works on line t % kLines, as number
// t / kLines of the FftOrder<kLength>::kThreads threads of that line: neighbouring threads have
// neighbouring lines, as in global memory. (Where a Point holds several lines, "line" means such a
// group of lines.)
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
  static constexpr int kSharedPoints = Order::kSharedPoints * kLines;  // size of `exchange`
  static constexpr int kFirst = Order::radix(0);
  static constexpr int kMiddle = Order::radix(1);
  static constexpr int kLast = Order::radix(2);
  // The step from a point of a butterfly to the next one in a line that is stored contiguously.
  static constexpr int kStoredStep = Order::butterflies(2);

  // `exchange` has kSharedPoints points of shared memory, and `roots` Order::kRoots roots
  // (fft_roots.cuh).
  __device__ BlockFft(Point* exchange, const Root* roots)
      : line_(static_cast<int>(threadIdx.x) % kLines),
        thread_(static_cast<int>(threadIdx.x) / kLines),
        first_(place(exchange, 0)),
        middle_(place(exchange, 1)),
        last_(place(exchange, 2)),
        first_roots_(roots + Order::root(0, thread_, 0)),
        middle_roots_(roots + Order::root(1, thread_, 0)) {}

  __device__ int line() const { return line_; }
  __device__ int thread() const { return thread_; }

  // Does the first forward stage of x[i] = point thread() + i x stride(0), of which only the first
  // kInputs may be other than 0, and writes to shared memory.
  template <int kInputs>
  __device__ __forceinline__ void forward_first(Point (&x)[kFirst]) {
    transform_points<kFirst, false, kInputs>(x);
    turn_and_store<0>(first_, first_roots_, x);
  }
  __device__ __forceinline__ void forward_middle() {
    in_rounds<1>([&](auto round) {
      Point* at = middle_ + round * Order::address_round(1) * kLines;
      Point x[kMiddle];
      load<1>(at, x);
      transform_points<kMiddle, false>(x);
      turn_and_store<1>(at, middle_roots_, x);
    });
  }
  // Calls use(round) for each of this thread's butterflies of the last stage. Forward, `use` calls
  // take_last(), after which x[i] has the stored index stored(round) + i x kStoredStep; inverse, it
  // calls give_last() with points of these indices.
  template <typename Use>
  __device__ __forceinline__ void for_each_last(Use&& use) {
    in_rounds<2>(use);
  }
  __device__ __forceinline__ int stored(int round) const {
    return thread_ + round * Order::kThreads;
  }
  __device__ __forceinline__ void take_last(int round, Point (&x)[kLast]) {
    load<2>(last_ + round * Order::address_round(2) * kLines, x);
    transform_points<kLast, false>(x);
  }
  __device__ __forceinline__ void give_last(int round, Point (&x)[kLast]) {
    transform_points<kLast, true>(x);
    store<2>(last_ + round * Order::address_round(2) * kLines, x);
  }
  __device__ __forceinline__ void inverse_middle() {
    in_rounds<1>([&](auto round) {
      Point* at = middle_ + round * Order::address_round(1) * kLines;
      Point x[kMiddle];
      load_and_turn_back<1>(at, middle_roots_, x);
      transform_points<kMiddle, true>(x);
      store<1>(at, x);
    });
  }
  // Does the last inverse stage: x[i] becomes point thread() + i x stride(0).
  __device__ __forceinline__ void inverse_first(Point (&x)[kFirst]) {
    take_first(x);
    transform_points<kFirst, true>(x);
  }
  // Reads the points that inverse_first() transforms.
  __device__ __forceinline__ void take_first(Point (&x)[kFirst]) {
    load_and_turn_back<0>(first_, first_roots_, x);
  }

 private:
  // Returns the address of the thread's first butterfly of a stage; all others are at constant
  // distances from it.
  __device__ Point* place(Point* exchange, int stage) const {
    return exchange + Order::address(Order::position(stage, thread_, 0)) * kLines + line_;
  }
  template <int kStage, int kRadix>
  __device__ __forceinline__ static void load(const Point* at, Point (&x)[kRadix]) {
    unrolled<kRadix>([&](auto i) { x[i] = at[i * Order::address_stride(kStage) * kLines]; });
  }
  template <int kStage, int kRadix>
  __device__ __forceinline__ static void store(Point* at, const Point (&x)[kRadix]) {
    unrolled<kRadix>([&](auto i) { at[i * Order::address_stride(kStage) * kLines] = x[i]; });
  }
  template <int kStage, int kRadix>
  __device__ __forceinline__ static void turn_and_store(Point* at, const Root* roots,
                                                        const Point (&x)[kRadix]) {
    at[0] = x[0];
    unrolled<kRadix - 1>([&](auto before) {
      constexpr int i = before + 1;
      at[i * Order::address_stride(kStage) * kLines] =
          fused_product(x[i], load_root(roots + i * Order::stride(kStage)));
    });
  }
  template <int kStage, int kRadix>
  __device__ __forceinline__ static void load_and_turn_back(const Point* at, const Root* roots,
                                                            Point (&x)[kRadix]) {
    x[0] = at[0];
    unrolled<kRadix - 1>([&](auto before) {
      constexpr int i = before + 1;
      x[i] = conjugate_product(at[i * Order::address_stride(kStage) * kLines],
                               load_root(roots + i * Order::stride(kStage)));
    });
  }
  // Calls use(round) for each butterfly thread() + round x Order::kThreads of a stage.
  template <int kStage, typename Use>
  __device__ __forceinline__ void in_rounds(Use&& use) {
    constexpr int kButterflies = Order::butterflies(kStage);
    unrolled<Order::rounds(kStage)>([&](auto round) {
      if constexpr ((round + 1) * Order::kThreads <= kButterflies) {
        use(round);
      } else {
        if (thread_ + round * Order::kThreads < kButterflies) use(round);
      }
    });
  }

  int line_, thread_;
  Point *first_, *middle_, *last_;
  const Root *first_roots_, *middle_roots_;
};

}  // namespace engine::cuda

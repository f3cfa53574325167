// What the last rows read of the exchange while they work on the transform before: copies to shared
// memory that no thread waits for until it needs them.
#pragma once

#include <cstddef>

#include "engine/cuda/fused/fft_radix.cuh"
#include "engine/cuda/fused/layout.cuh"

namespace engine::cuda {

// One transform's part of a block of kThreads threads, whose kLines lines begin at a multiple of
// kLines. A chunk has kColumns of each line side by side: kRun Elements, 32 bytes.
template <int kLength, int kThreads, typename Storage>
class RowsAhead {
 public:
  using Element = typename Storage::Element;
  static constexpr size_t kSharedBytes =
      static_cast<size_t>(kLength) * Storage::kLines * sizeof(Element);

  // `waiting`: kSharedBytes, aligned to 16. `in`: the block's first line and first column.
  __device__ __forceinline__ RowsAhead(Element* waiting, const Element* in)
      : own_(waiting + static_cast<int>(threadIdx.x) * kPiece),
        waiting_(waiting),
        in_(in + static_cast<int>(threadIdx.x) / kPieces * Storage::kColumns * kChunkLines +
            static_cast<int>(threadIdx.x) % kPieces * kPiece) {}

  // The copies of the transform that begins `at` Elements after the first one. A block waits for
  // all of its threads between the last `element` of a transform and this, and between `wait` and
  // the first `element`.
  __device__ __forceinline__ void start(size_t at) const {
    unrolled<kCopies>([&](auto i) {
      copy_16_bytes_ahead(own_ + i * kThreads * kPiece,
                          in_ + at + i * (kThreads / kPieces) * Storage::kColumns * kChunkLines);
    });
    close_copies_ahead();
  }
  // For this thread's copies.
  __device__ __forceinline__ void wait() const { wait_for_copies_ahead(); }

  // Of a line, in its stored order.
  __device__ __forceinline__ const Element* element(int line, int column) const {
    return waiting_ + (column / Storage::kColumns * Storage::kLines + line) * Storage::kColumns +
           column % Storage::kColumns;
  }
  // From one Element to that `columns` later, whole chunks.
  __device__ static constexpr int distance(int columns) { return columns * Storage::kLines; }

 private:
  static constexpr int kPiece = 16 / static_cast<int>(sizeof(Element));
  static constexpr int kRun = Storage::kLines * Storage::kColumns;
  static constexpr int kPieces = kRun / kPiece;  // of a chunk
  static constexpr int kCopies = kLength * Storage::kLines / kPiece / kThreads;
  static_assert(kRun % kPiece == 0 && kThreads % kPieces == 0);
  static_assert(kCopies * kThreads * kPiece == kLength * Storage::kLines);

  Element* own_;
  const Element* waiting_;
  const Element* in_;
};

}  // namespace engine::cuda

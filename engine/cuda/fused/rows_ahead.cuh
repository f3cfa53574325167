// Reads the exchange for the last rows ahead, during the work on the transform before: by copies to
// shared memory for which a thread waits only when it needs them.
#pragma once

#include <cstddef>

#include "engine/cuda/fused/fft_radix.cuh"
#include "engine/cuda/fused/layout.cuh"

namespace engine::cuda {

// One transform's part of the exchange for a block of kThreads threads, whose kLines lines begin at
// a multiple of kLines. In a chunk, these lines have kColumns columns each, next to each other:
// kRun Elements, 32 bytes.
template <int kLength, int kThreads, typename Storage>
class RowsAhead {
 public:
  using Element = typename Storage::Element;
  static constexpr size_t kSharedBytes =
      static_cast<size_t>(kLength) * Storage::kLines * sizeof(Element);

  // `waiting` has kSharedBytes bytes, aligned to 16. `in` is the block's first line and column.
  __device__ __forceinline__ RowsAhead(Element* waiting, const Element* in)
      : own_(waiting + static_cast<int>(threadIdx.x) * kPiece),
        waiting_(waiting),
        in_(in + static_cast<int>(threadIdx.x) / kPieces * Storage::kColumns * kChunkLines +
            static_cast<int>(threadIdx.x) % kPieces * kPiece) {}

  // Starts the copies of the transform that begins `at` Elements after the first one. The block
  // must synchronise its threads between the last read of a transform's elements and start(), and
  // between wait() and the first read.
  __device__ __forceinline__ void start(size_t at) const {
    unrolled<kCopies>([&](auto i) {
      copy_16_bytes_ahead(own_ + i * kThreads * kPiece,
                          in_ + at + i * (kThreads / kPieces) * Storage::kColumns * kChunkLines);
    });
    close_copies_ahead();
  }
  // Waits for this thread's copies.
  __device__ __forceinline__ void wait() const { wait_for_copies_ahead(); }

  // Returns an element of a line; columns are in stored order.
  __device__ __forceinline__ const Element* element(int line, int column) const {
    return waiting_ + (column / Storage::kColumns * Storage::kLines + line) * Storage::kColumns +
           column % Storage::kColumns;
  }
  // Returns the distance to the Element that is `columns` later, a multiple of kColumns.
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

// Every number of the fused path that was chosen for speed, for what it costs in registers, shared
// memory and traffic (docs/cuda.md; bench/kernel_budget.py counts it). The radices decide bits, the
// others none.
#pragma once

#include <cstdint>

#include "engine/backend/transform_path.h"

namespace engine::cuda {

template <int kR0, int kR1, int kR2>
struct Radices {
  static constexpr int kFirst = kR0;
  static constexpr int kMiddle = kR1;
  static constexpr int kLast = kR2;
};

// The lengths that can be transformed. The first is small enough to be tested as a whole; all but
// the first radix multiply to a multiple of kChunkLines.
template <int kLength>
struct RadicesOf;
template <>
struct RadicesOf<64> : Radices<4, 4, 4> {};
template <>
struct RadicesOf<96> : Radices<4, 4, 6> {};
template <>
struct RadicesOf<288> : Radices<4, 8, 9> {};
template <>
struct RadicesOf<256> : Radices<8, 8, 4> {};
template <>
struct RadicesOf<512> : Radices<8, 8, 8> {};
template <>
struct RadicesOf<1024> : Radices<16, 16, 4> {};
template <>
struct RadicesOf<1536> : Radices<16, 16, 6> {};
template <>
struct RadicesOf<2048> : Radices<16, 16, 8> {};
template <>
struct RadicesOf<2304> : Radices<16, 16, 9> {};
template <>
struct RadicesOf<3072> : Radices<16, 16, 12> {};
template <>
struct RadicesOf<4096> : Radices<16, 16, 16> {};

// Which kernel works on columns: correlate_columns, in three stages, or correlate_columns_in_two.
// Each rounds in its own way. That in two has three accesses of shared memory for each point in
// place of five, but a third of the warps, and code that outgrows the instruction cache: on an H200
// it is the slower one (bench/results), and a plan has it only where a measurement asks for it.
enum class ColumnKernel { kInThree, kInTwo };
// Points of a thread of correlate_columns_in_two; 0: it has no kernel for this length, which is not
// the square of what fits a thread's registers. The first length is there to be tested.
constexpr int radix_in_two(int length) { return length == 64 ? 8 : length == 2304 ? 48 : 0; }
// How far apart the points of a thread are in a column.
template <int kLength>
constexpr int column_step(ColumnKernel kernel) {
  return kernel == ColumnKernel::kInTwo ? radix_in_two(kLength)
                                        : kLength / RadicesOf<kLength>::kFirst;
}

struct SingleStorage;
struct HalfArithmetic;

// The same for all lengths, since kernels of two lengths may work on one tile: a block has kColumns
// columns, or kLines lines of rows, which together fill a sector of 32 bytes.
template <typename Storage>
struct StorageTuning;
template <>
struct StorageTuning<SingleStorage> {
  static constexpr int kColumns = 2;
  static constexpr int kLines = 2;
  static constexpr int kRowThreads = 640;  // 96 registers each
};
template <>
struct StorageTuning<HalfArithmetic> {
  static constexpr int kColumns = 4;
  static constexpr int kLines = 1;
  static constexpr int kRowThreads = 512;  // 128 registers, since each has the pixels of two rows
};

// kColumnThreads and the like: so many threads share the registers of a multiprocessor in each
// kernel. With more the compiler would have to spill.
template <int kLength, typename Storage>
struct FusedTuning : StorageTuning<Storage> {
  // 72 registers each; or 80, where shared memory has room for no more blocks.
  static constexpr int kColumnThreads = kLength == 1024 ? 768 : 896;
  static constexpr int kColumnThreadsInTwo = 288;  // up to 224

  static constexpr int blocks_of_columns(int threads) { return blocks(kColumnThreads, threads); }
  static constexpr int blocks_of_columns_in_two(int threads) {
    return blocks(kColumnThreadsInTwo, threads);
  }
  static constexpr int blocks_of_rows(int threads) {
    return blocks(StorageTuning<Storage>::kRowThreads, threads);
  }

 private:
  static constexpr int blocks(int threads, int in_block) {
    return threads > in_block ? threads / in_block : 1;
  }
};

// Of `points` of a thread, how many a tile keeps at most where the template is about a quarter of
// its length or longer; kernels that have no more are compiled beside those that have all.
constexpr int points_usually_kept(int points) { return (13 * points + 15) / 16; }

// Lines that lie side by side in every chunk of the exchange. With more, memory delivers more
// beside the 32 bytes that a block of finish_rows reads of each; with fewer, columns are written in
// smaller pieces.
constexpr int kChunkLines = 4;
// Transforms of one pass, over which a pixel's statistics are read and written once.
constexpr int kMostTransforms = 32;
// Which blocks of correlate_columns run side by side: all transforms of a few columns, which read
// the same spectra of the tiles; or all columns of a few transforms.
enum class ColumnGrid { kTransformsFirst, kChunksFirst };
// Of a multiprocessor's shared memory: what the blocks of finish_rows that read ahead may have, and
// what the system takes for each. A device that gives a block less than kBlockBytesToReadAhead has
// less of it.
constexpr uint64_t kSharedBytesToReadAhead = 228 * 1024;
constexpr uint64_t kReservedBytes = 1024;
constexpr uint64_t kBlockBytesToReadAhead = 200 * 1024;
// In single precision a thread's registers and roots want the L1 cache that this takes (measured on
// an H200).
constexpr bool reads_rows_ahead(Precision precision, uint64_t block_bytes) {
  return precision == Precision::kFp16 && block_bytes >= kBlockBytesToReadAhead;
}
// Of the device's free memory, the part for what goes from columns to rows.
constexpr double kExchangePart = 0.5;

}  // namespace engine::cuda

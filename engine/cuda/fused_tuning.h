// All numbers of the fused path that were chosen for speed, by what they cost in registers, shared
// memory and traffic (docs/cuda.md; bench/kernel_budget.py counts it). Only the radices change the
// results' bits.
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

// The lengths that can be transformed. The first is small enough for exhaustive tests. The product
// of the radices after the first one is a multiple of kChunkLines.
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
// They round differently. The kernel in two stages accesses shared memory three times for each
// point instead of five, but has a third of the warps and code that is too large for the
// instruction cache. It is slower on an H200 (bench/results), and is used only by measurements.
//
// A faster correlate_columns is written in its place, in fused/kernels.cuh. Another kernel beside
// it is a header beside columns_in_two.cuh and a line at each place that compares with these, of
// which no compiler reminds: column_step() here; its frequencies, its roots, its shape and its
// launch in correlator.h; gain_of_column() in half_gain.h; its shared memory in instantiate.h;
// grant() in fused_plan.cpp. FusedPlan::columns makes it the default. It is measured by a word in
// bench/gpu_options.cpp, with its bytes in bench/kernel_bytes.cpp and its registers in
// bench/kernel_budget.py, and run by tools/gpu_check/bench.py. It is tested by fused_cases.h,
// lengths_test.cpp, fused_searches.h, half_cases.h and cuda_fused_test.cu, its word by
// gpu_bench_test.cpp and gpu_check_test.cpp, and it is documented in docs/cuda.md.
enum class ColumnKernel { kInThree, kInTwo };
// Returns the points of a thread of correlate_columns_in_two; 0 where it has no kernel for this
// length, since the length's root must be whole and fit a thread's registers. 64 is for tests.
constexpr int radix_in_two(int length) { return length == 64 ? 8 : length == 2304 ? 48 : 0; }
// Returns the distance between the points of a thread in a column, in rows.
template <int kLength>
constexpr int column_step(ColumnKernel kernel) {
  return kernel == ColumnKernel::kInTwo ? radix_in_two(kLength)
                                        : kLength / RadicesOf<kLength>::kFirst;
}

struct SingleStorage;
struct HalfArithmetic;

// These are the same for all lengths, since kernels of two lengths may work on one tile. A block
// has kColumns columns, or kLines lines of rows, which together fill a sector of 32 bytes.
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

// kColumnThreads, kColumnThreadsInTwo and kRowThreads say how many threads share the registers of a
// multiprocessor in each kernel. With more threads the compiler would have to spill.
template <int kLength, typename Storage>
struct FusedTuning : StorageTuning<Storage> {
  // 72 registers each, or 80 for 1024 points, where shared memory has no room for more blocks.
  static constexpr int kColumnThreads = kLength == 1024 ? 768 : 896;
  static constexpr int kColumnThreadsInTwo = 288;  // up to 224 registers each

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

// Returns how many of a thread's `points` a tile keeps at most where the template is about a
// quarter of the tile's length or longer. Kernels that keep this many are compiled beside kernels
// that keep all.
constexpr int points_usually_kept(int points) { return (13 * points + 15) / 16; }

// Adjacent lines in every chunk of the exchange. With more lines, memory delivers more beside the
// 32 bytes that a block of finish_rows reads of a chunk; with fewer, columns are written in smaller
// pieces.
constexpr int kChunkLines = 4;
// The most transforms of one pass, for which a pixel's statistics are read and written once.
constexpr int kMostTransforms = 32;
// Which blocks of correlate_columns run at the same time: those of all transforms for a few
// columns, which read the same tiles' spectra, or those of all columns for a few transforms.
enum class ColumnGrid { kTransformsFirst, kChunksFirst };
// The shared memory of a multiprocessor that all blocks of finish_rows that read ahead may use, and
// what the system takes for each block. A multiprocessor has less than that on devices that give a
// block less than kBlockBytesToReadAhead.
constexpr uint64_t kSharedBytesToReadAhead = 228 * 1024;
constexpr uint64_t kReservedBytes = 1024;
constexpr uint64_t kBlockBytesToReadAhead = 200 * 1024;
// True where reading ahead is faster. In single precision it is not, since it takes L1 cache that
// registers and roots need (measured on an H200).
constexpr bool reads_rows_ahead(Precision precision, uint64_t block_bytes) {
  return precision == Precision::kFp16 && block_bytes >= kBlockBytesToReadAhead;
}
// The fraction of the device's free memory for the exchange between columns and rows.
constexpr double kExchangePart = 0.5;

}  // namespace engine::cuda

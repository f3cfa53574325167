// Plans how the fused path cuts a search into tiles and passes, and the memory for it. Pure
// functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/transform_path.h"
#include "engine/cuda/fused_tuning.h"
#include "engine/cuda/tiling.h"

namespace engine::cuda {

// A length of transform that a build has kernels for.
struct CompiledLength {
  int length = 0;
  uint64_t shared_bytes = 0;  // the most that a block of one of its kernels needs
  int lane_step =
      0;  // FusedShape::lane_step of correlate_columns where a line has two lanes; 0: one
};

// A build's kernels for one precision.
struct FusedKernels {
  Precision precision = Precision::kFp32;
  std::vector<CompiledLength> lengths;  // ascending; empty: there are no kernels
  int number_bytes = 8;                 // of a stored complex number
  int most_transforms = 1;              // in one pass
  uint64_t block_bytes = UINT64_MAX;    // shared memory that the device gives a block
};

// Returns the lengths whose kernels run where a block may have `shared_bytes` of shared memory.
std::vector<int> lengths_within(const FusedKernels& kernels, uint64_t shared_bytes);

// Returns the same lengths for a template of n pixels. Throws UsageError where there are no kernels
// or too little shared memory, and InputError where the template is longer than all lengths.
// `device` is for the message: "NVIDIA H200 (sm_90)".
std::vector<int> require_lengths(const FusedKernels& kernels, uint64_t shared_bytes, int n,
                                 const std::string& device);

struct FusedPlan {
  Tiling tiling;
  int transforms = 1;                              // in one pass; changes no bit
  ColumnGrid grid = ColumnGrid::kTransformsFirst;  // changes no bit
  ColumnKernel columns = ColumnKernel::kInThree;
  bool rows_ahead = false;  // of reads_rows_ahead(); changes no bit
  std::vector<MemoryItem> items;
};

// Plans a search with one of the `lengths` for each axis, and columns in three stages. Returns
// nullopt when the template is longer than all of them, or when there would be more tiles than a
// launch allows. `number_bytes` is the size of a stored complex number. A pass has as many
// transforms as fit into `exchange_bytes`, at least one and at most `most`.
std::optional<FusedPlan> plan_fused(const ProblemShape& shape, std::span<const int> lengths,
                                    int number_bytes, int most,
                                    uint64_t exchange_bytes = UINT64_MAX);

// Overrides of a plan's choices, for measurements. They change the plan's memory by a few rows at
// most.
struct KernelWishes {
  std::optional<ColumnGrid> grid;
  std::optional<ColumnKernel> columns;
  std::optional<bool> rows_ahead;
};
// Applies the overrides. Throws UsageError where the tiles' length has no kernel in two stages.
void grant(const KernelWishes& wishes, FusedPlan& plan);

// Returns for example "4 tiles of 2304 x 2304 pixels", rows first.
std::string describe_tiling(const Tiling& tiling);

}  // namespace engine::cuda

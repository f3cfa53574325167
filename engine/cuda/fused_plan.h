// How the fused path cuts a search, and the memory that this takes. Pure.
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
  uint64_t shared_bytes = 0;  // that a block of the hungriest of them asks for
  int lane_step =
      0;  // FusedShape::lane_step of correlate_columns where a line has two lanes; 0: one
};

// What a build has for one precision.
struct FusedKernels {
  Precision precision = Precision::kFp32;
  std::vector<CompiledLength> lengths;  // ascending; none: nothing
  int number_bytes = 8;                 // of a stored complex number
  int most_transforms = 1;              // in one pass
  uint64_t block_bytes = UINT64_MAX;    // of shared memory that the device gives a block
};

// The lengths whose kernels run where a block may have `shared_bytes`.
std::vector<int> lengths_within(const FusedKernels& kernels, uint64_t shared_bytes);

// The same, for a template of n pixels. Throws where there is none: UsageError for want of kernels
// or of shared memory, InputError for too large a template. `device` for the message: "NVIDIA H200
// (sm_90)".
std::vector<int> require_lengths(const FusedKernels& kernels, uint64_t shared_bytes, int n,
                                 const std::string& device);

struct FusedPlan {
  Tiling tiling;
  int transforms = 1;                              // in one pass; decides no bit
  ColumnGrid grid = ColumnGrid::kTransformsFirst;  // nor does this
  ColumnKernel columns = ColumnKernel::kInThree;
  bool rows_ahead = false;  // reads_rows_ahead; decides no bit
  std::vector<MemoryItem> items;
};

// With one of the `lengths` for each axis, columns in three stages; nothing when the template is
// longer than all of them, or when there would be more tiles than a launch has room for.
// `number_bytes` is the size of a stored complex number. A pass has as many transforms as
// `exchange_bytes` have room for, one at least and `most` at most.
std::optional<FusedPlan> plan_fused(const ProblemShape& shape, std::span<const int> lengths,
                                    int number_bytes, int most,
                                    uint64_t exchange_bytes = UINT64_MAX);

// Overrides of a plan's choices, for measurements. It changes the memory that the plan counts
// by a few rows at most.
struct KernelWishes {
  std::optional<ColumnGrid> grid;
  std::optional<ColumnKernel> columns;
  std::optional<bool> rows_ahead;
};
// Throws UsageError where the tiles' length has no kernel in two stages.
void grant(const KernelWishes& wishes, FusedPlan& plan);

// "4 tiles of 2304 x 2304 pixels", rows first.
std::string describe_tiling(const Tiling& tiling);

}  // namespace engine::cuda

// Computes the device memory of a search, and shrinks the search to fit. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/cuda/fused_plan.h"
#include "engine/cuda/launch_observer.h"

namespace engine::cuda {

struct MemoryPlan {
  std::vector<MemoryItem> items;
  int batch = 1;  // units whose projections are made together
  // The next two decide how library transforms are planned, and so the last bits of the results.
  // They follow from the shape alone.
  int transforms = 1;   // correlation pairs in one pass
  int projections = 1;  // back-transforms in one plan
  // The plan of the fused path; nullopt: library transforms.
  std::optional<FusedPlan> fused;
  Precision precision = Precision::kFp32;
  LaunchWatch* watch = nullptr;  // called at every launch; must outlive the backend
  uint64_t total() const;
};

// Returns how many projections there is room for: those of a batch, filled up with zeros to whole
// plans of plan.projections.
int64_t projection_slots(const ProblemShape& shape, const MemoryPlan& plan);

// Plans a search by library transforms. `batch` is in units (0: automatic). In bytes, `workspace`
// is what the transforms need themselves, `free` what the device has (0: no limit), and `exchange`
// what exchanging data with other ranks takes. The batch is reduced to stay within `free`; the
// smallest plan may still be larger.
MemoryPlan plan_memory(const ProblemShape& shape, int batch, uint64_t workspace = 0,
                       uint64_t free = 0, uint64_t exchange = 0);

// Plans a search on the fused path, with one of the `lengths` for each axis; at least one of them
// must be as long as the template. The transforms of a pass are reduced, too, which changes no bit.
// Throws InputError where there would be too many tiles.
MemoryPlan plan_fused_memory(const ProblemShape& shape, const FusedKernels& kernels,
                             std::span<const int> lengths, int batch, uint64_t workspace = 0,
                             uint64_t free = 0, uint64_t exchange = 0);

}  // namespace engine::cuda

// How much of a device's memory a search takes, and how its work is cut to fit. Pure.
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
  // The next two decide how the transforms are planned, and with it the last bits of the numbers.
  // They follow from the shape alone.
  int transforms = 1;   // correlation pairs in one pass
  int projections = 1;  // back-transforms in one plan
  // How the fused path cuts the search; nothing: library transforms.
  std::optional<FusedPlan> fused;
  Precision precision = Precision::kFp32;
  LaunchWatch* watch = nullptr;  // called at every launch; must outlive the backend
  uint64_t total() const;
};

// Projections that the batch can hold: the last plan is filled up with zeros.
int64_t projection_slots(const ProblemShape& shape, const MemoryPlan& plan);

// `batch` in units, 0: automatic. `workspace` is what the transforms need for themselves, `free`
// what the device has, `exchange` what is taken for exchanging data with other ranks, all in bytes;
// the batch is shrunk to stay within `free` (0: no limit), and the result may still be larger.
MemoryPlan plan_memory(const ProblemShape& shape, int batch, uint64_t workspace = 0,
                       uint64_t free = 0, uint64_t exchange = 0);

// The same for the fused path, with one of the `lengths` for each axis, one of which must take the
// template. The transforms of a pass are shrunk, too; they decide no bit.
MemoryPlan plan_fused_memory(const ProblemShape& shape, const FusedKernels& kernels,
                             std::span<const int> lengths, int batch, uint64_t workspace = 0,
                             uint64_t free = 0, uint64_t exchange = 0);

}  // namespace engine::cuda

// How the fused path cuts a search, and the memory that this takes. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/backend.h"
#include "engine/cuda/tiling.h"

namespace engine::cuda {

struct FusedPlan {
  Tiling tiling;
  int transforms = 1;  // in one pass; decides no bit
  std::vector<MemoryItem> items;
};

// With one of the `lengths` for each axis; nothing when the template is longer than all of them.
// `number_bytes`: of a stored complex number. A pass has as many transforms as `exchange_bytes`
// have room for, one at least and `most` at most.
std::optional<FusedPlan> plan_fused(const ProblemShape& shape, std::span<const int> lengths,
                                    int number_bytes, int most,
                                    uint64_t exchange_bytes = uint64_t{2} << 30);

}  // namespace engine::cuda

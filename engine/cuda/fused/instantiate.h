// Describes a build's fused kernels for one kind of storage. Include after device_words.cuh and
// half_words.cuh.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/cuda/fused/correlator.h"
#include "engine/cuda/fused_plan.h"

namespace engine::cuda {

// Returns the lengths in the order of `Lengths`, which is ascending.
template <typename Storage, typename Lengths>
std::vector<CompiledLength> compiled_lengths() {
  std::vector<CompiledLength> out;
  for (const int each : Lengths::kLengths) {
    Lengths::with(each, [&](auto length) {
      size_t shared =
          std::max({template_rows_shared<length, Storage>(), columns_shared<length, Storage>(),
                    last_rows_shared<length, Storage>()});
      if constexpr (radix_in_two(length) > 0) {
        shared = std::max(shared, InTwo<length, Storage>::kSharedBytes);
      }
      out.push_back({each, shared, Storage::kLanes == 1 ? 0 : FftOrder<length>::stride(0)});
    });
  }
  return out;
}

template <typename Storage, typename Lengths>
FusedKernels fused_kernels_of(Precision precision) {
  return {.precision = precision,
          .lengths = compiled_lengths<Storage, Lengths>(),
          .number_bytes = Storage::kNumberBytes,
          .most_transforms = kMostTransforms};
}

}  // namespace engine::cuda

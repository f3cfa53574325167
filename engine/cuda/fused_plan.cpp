#include "engine/cuda/fused_plan.h"

#include <algorithm>
#include <utility>

#include "engine/error.h"

namespace engine::cuda {
namespace {

// A grid of blocks has no more in its second direction.
constexpr uint64_t kMostTiles = 65535;

std::string kibibytes(uint64_t bytes) { return std::to_string((bytes + 1023) / 1024) + " KiB"; }

// The option that asked for the fused path.
std::string asked_by(Precision precision) {
  return precision == Precision::kFp32 ? "--fft fused" : "--precision " + precision_name(precision);
}

}  // namespace

std::vector<int> lengths_within(const FusedKernels& kernels, uint64_t shared_bytes) {
  std::vector<int> lengths;
  for (const CompiledLength& each : kernels.lengths) {
    if (each.shared_bytes <= shared_bytes) lengths.push_back(each.length);
  }
  return lengths;
}

std::vector<int> require_lengths(const FusedKernels& kernels, uint64_t shared_bytes, int n,
                                 const std::string& device) {
  const std::string asked = asked_by(kernels.precision);
  const std::string way_out = "search with --fft cufft (in fp32)";
  if (kernels.lengths.empty()) {
    throw UsageError(asked + ": not in this build of margay-engine; " + way_out);
  }
  const std::vector<int> lengths = lengths_within(kernels, shared_bytes);
  if (lengths.empty()) {
    throw UsageError(asked + ": a block on " + device + " may have " + kibibytes(shared_bytes) +
                     " of shared memory; the shortest transform of this build, of " +
                     std::to_string(kernels.lengths.front().length) + " points, needs " +
                     kibibytes(kernels.lengths.front().shared_bytes) + ": " + way_out);
  }
  const int longest = *std::max_element(lengths.begin(), lengths.end());
  if (n > longest) {
    throw InputError(asked + ": a template of " + std::to_string(n) + " pixels is longer than " +
                     std::to_string(longest) + ", the longest transform that this build has for " +
                     device + ": " + way_out + ", or with a smaller template");
  }
  return lengths;
}

std::optional<FusedPlan> plan_fused(const ProblemShape& shape, std::span<const int> lengths,
                                    int number_bytes, int most, uint64_t exchange_bytes) {
  std::optional<Tiling> tiling =
      tile_image(shape.height, shape.width, shape.template_size, lengths);
  if (!tiling) return std::nullopt;
  const auto bytes = static_cast<uint64_t>(number_bytes);
  const auto rows = static_cast<uint64_t>(tiling->rows.length);
  const auto columns = static_cast<uint64_t>(tiling->columns.length);
  const auto tiles = static_cast<uint64_t>(tiling->places().size());
  if (tiles > kMostTiles) return std::nullopt;
  // In whole chunks.
  const auto kept = static_cast<uint64_t>(tiling->rows.largest_part());
  const uint64_t kept_rows = (kept + kChunkLines - 1) / kChunkLines * kChunkLines;
  const uint64_t exchange = tiles * kept_rows * columns * bytes;
  const uint64_t transforms =
      std::clamp<uint64_t>(exchange_bytes / exchange, 1, static_cast<uint64_t>(most));
  FusedPlan plan{.tiling = std::move(*tiling), .transforms = static_cast<int>(transforms)};
  plan.items = {
      {"tile spectra", tiles * rows * columns * bytes},
      {"template rows", transforms * static_cast<uint64_t>(shape.template_size) * columns * bytes},
      {"correlations on their way", transforms * exchange},
  };
  return plan;
}

void grant(const KernelWishes& wishes, FusedPlan& plan) {
  const int length = plan.tiling.rows.length;
  if (wishes.columns == ColumnKernel::kInTwo && radix_in_two(length) == 0) {
    throw UsageError("columns of " + std::to_string(length) +
                     " points have no kernel in two stages: ask for in-three");
  }
  plan.grid = wishes.grid.value_or(plan.grid);
  plan.columns = wishes.columns.value_or(plan.columns);
  plan.rows_ahead = wishes.rows_ahead.value_or(plan.rows_ahead);
}

std::string describe_tiling(const Tiling& tiling) {
  const size_t tiles = tiling.rows.parts.size() * tiling.columns.parts.size();
  return std::to_string(tiles) + (tiles == 1 ? " tile of " : " tiles of ") +
         std::to_string(tiling.rows.length) + " x " + std::to_string(tiling.columns.length) +
         " pixels";
}

}  // namespace engine::cuda

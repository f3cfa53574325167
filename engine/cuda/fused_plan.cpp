#include "engine/cuda/fused_plan.h"

#include <algorithm>
#include <utility>

namespace engine::cuda {

std::optional<FusedPlan> plan_fused(const ProblemShape& shape, std::span<const int> lengths,
                                    int number_bytes, int most, uint64_t exchange_bytes) {
  std::optional<Tiling> tiling =
      tile_image(shape.height, shape.width, shape.template_size, lengths);
  if (!tiling) return std::nullopt;
  const auto bytes = static_cast<uint64_t>(number_bytes);
  const auto rows = static_cast<uint64_t>(tiling->rows.length);
  const auto columns = static_cast<uint64_t>(tiling->columns.length);
  const auto tiles = static_cast<uint64_t>(tiling->places().size());
  // Eight rows at a time.
  const uint64_t kept_rows = (static_cast<uint64_t>(tiling->rows.largest_part()) + 7) / 8 * 8;
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

}  // namespace engine::cuda

#include "engine/search/plan_text.h"

#include "base/text.h"

namespace engine {
namespace {

std::string sides_text(const ProblemShape& shape) {
  return std::to_string(shape.width) + " x " + std::to_string(shape.height) + " pixels, template " +
         std::to_string(shape.template_size) + "^3";
}

}  // namespace

std::string crop_note(const SearchConfig& config, const std::optional<SearchGrid>& grid) {
  if (!config.fourier_crop || grid) return "";
  const bool limited = resolution_limit(config.filters.bandpass).has_value();
  return limited ? "fourier_crop has no effect: no coarser grid that holds the bandpass saves a "
                   "tenth of the pixels"
                 : "fourier_crop has no effect: preprocessing_filters.bandpass_filter lets all "
                   "frequencies pass (high_freq_cutoff + falloff below 0.5 would not)";
}

std::string describe_plan(const SearchConfig& config, const SearchSpace& space,
                          const ProblemShape& shape, const std::optional<SearchGrid>& grid,
                          const DevicePlan& device) {
  return config.micrograph_path + ": " + sides_text(shape) +
         (grid ? ", searched as " + sides_text(on_grid(shape, grid)) : "") + ", " +
         base::grouped_number(space.orientations()) + " orientations x " +
         base::counted(static_cast<int64_t>(space.planes.size()), "defocus plane") + " = " +
         base::grouped_number(space.correlations()) + " correlations, " + describe_workers(device) +
         "\n" + describe_memory(device);
}

}  // namespace engine

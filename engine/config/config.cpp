#include "engine/config/config.h"

#include <algorithm>
#include <cmath>

#include "engine/error.h"

namespace engine {
namespace {

constexpr double kMostPlanes = 100000;

}  // namespace

std::string planes_problem(const DefocusSearch& search) {
  if (!search.enabled) return "";
  if (!(search.step > 0)) return "has no planes to search: defocus_step must be greater than 0";
  if (search.max < search.min) {
    return "has no planes to search: defocus_max is less than defocus_min";
  }
  if ((search.max - search.min) / search.step > kMostPlanes) {
    return "has more than 100000 planes: defocus_step is too small for the range";
  }
  return "";
}

std::vector<float> defocus_planes(const DefocusSearch& search) {
  const std::string problem = planes_problem(search);
  if (!problem.empty()) throw InputError("defocus_search_config " + problem);
  if (!search.enabled) return {0.0f};
  const double count = std::ceil((search.max + search.step - search.min) / search.step);
  std::vector<float> planes;
  for (int i = 0; i < static_cast<int>(count); ++i) {
    planes.push_back(static_cast<float>(search.min + i * search.step));
  }
  const bool has_zero = std::any_of(planes.begin(), planes.end(),
                                    [](float value) { return std::abs(value) <= 1e-6f; });
  if (!has_zero && !search.skip_enforce_zero) {
    planes.push_back(0.0f);
    std::sort(planes.begin(), planes.end());
  }
  return planes;
}

}  // namespace engine

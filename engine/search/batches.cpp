#include "engine/search/batches.h"

#include <algorithm>

#include "engine/search/search.h"

namespace engine {

uint32_t correlate_chunk(Backend& backend, const std::vector<Unit>& units,
                         const std::vector<UnitRange>& chunk, Watchdog& watchdog,
                         const std::function<bool()>& wants_more) {
  std::vector<Unit> flat;
  for (const UnitRange& range : chunk) {
    flat.insert(flat.end(), units.begin() + range.begin, units.begin() + range.end);
  }
  const auto batch = static_cast<size_t>(std::max(1, backend.batch()));
  size_t done = 0;
  while (done < flat.size()) {
    const size_t count = std::min(batch, flat.size() - done);
    {
      const auto busy = watchdog.busy(Activity::kBatch);
      backend.correlate(std::span(flat).subspan(done, count));
    }
    done += count;
    if (!wants_more()) break;
  }
  return static_cast<uint32_t>(done);
}

Accumulators take_statistics(const Backend& backend, Watchdog& watchdog) {
  const auto busy = watchdog.busy(Activity::kDevice);
  return backend.accumulators();
}

void forget_statistics(Backend& backend, Watchdog& watchdog, int height, int width) {
  const auto busy = watchdog.busy(Activity::kDevice);
  backend.restore(Accumulators(height, width));
}

int64_t correlations_in(const std::vector<Unit>& units, const std::vector<UnitRange>& chunk,
                        uint32_t done, int planes) {
  int64_t correlations = 0;
  for (const UnitRange& range : chunk) {
    for (uint32_t unit = range.begin; unit < range.end && done > 0; ++unit, --done) {
      correlations += planes * (units[unit].second >= 0 ? 2 : 1);
    }
  }
  return correlations;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string numerics_signature(const Backend& backend) {
  return backend.name() + ", " + backend.precision() + ", numerics version " +
         std::to_string(kNumericsVersion);
}

double own_best_z(const Backend& backend, int64_t correlations, bool all) {
  constexpr int64_t kEnough = 1000;
  return correlations >= kEnough || all ? backend.best_z(correlations) : 0.0;
}

}  // namespace engine

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

std::string numerics_signature(const Backend& backend) {
  return backend.name() + ", " + backend.precision() + ", numerics version " +
         std::to_string(kNumericsVersion);
}

double own_best_z(const Backend& backend, int64_t correlations, bool all) {
  constexpr int64_t kEnough = 1000;
  return correlations >= kEnough || all ? backend.best_z(correlations) : 0.0;
}

}  // namespace engine

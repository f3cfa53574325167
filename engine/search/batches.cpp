#include "engine/search/batches.h"

#include <algorithm>

#include "engine/numerics/fft.h"
#include "engine/search/search.h"

namespace engine {

ChunkDone correlate_chunk(Backend& backend, const std::vector<Unit>& units, int planes,
                          const std::vector<UnitRange>& chunk, Watchdog& watchdog,
                          const std::function<bool()>& wants_more) {
  std::vector<Unit> flat;
  for (const UnitRange& range : chunk) {
    flat.insert(flat.end(), units.begin() + range.begin, units.begin() + range.end);
  }
  const auto batch = static_cast<size_t>(std::max(1, backend.batch()));
  ChunkDone done;
  while (done.units < flat.size()) {
    const auto rest = std::span(flat).subspan(done.units);
    const auto now = rest.first(std::min(batch, rest.size()));
    {
      const auto busy = watchdog.busy(Activity::kBatch);
      backend.correlate(now);
    }
    done.units += static_cast<uint32_t>(now.size());
    for (const Unit& unit : now) done.correlations += planes * unit.orientations();
    if (!wants_more()) break;
  }
  return done;
}

Accumulators take_statistics(const Backend& backend, Watchdog& watchdog) {
  const auto busy = watchdog.busy(Activity::kDevice);
  return backend.accumulators();
}

void forget_statistics(Backend& backend, Watchdog& watchdog, int height, int width) {
  const auto busy = watchdog.busy(Activity::kDevice);
  backend.restore(Accumulators(height, width));
}

std::string numerics_signature(const Backend& backend) {
  return backend.name() + ", " + backend.fft() + " " + backend.precision() + ", numerics version " +
         std::to_string(kNumericsVersion) + " with " + fft_library().name;
}

double own_best_z(const Backend& backend, int64_t correlations, bool all) {
  constexpr int64_t kEnough = 1000;
  return correlations >= kEnough || all ? backend.best_z(correlations) : 0.0;
}

}  // namespace engine

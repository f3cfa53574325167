// Correlates a chunk of units on a device, batch by batch: what every rank does.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/ranks/coordinator.h"
#include "engine/ranks/rank_group.h"

namespace engine {

struct ChunkDone {
  uint32_t units = 0;  // the first so many
  int64_t correlations = 0;
};

// Correlates the units of `chunk` in so many defocus planes, batch by batch, until after a batch
// `wants_more` is false.
ChunkDone correlate_chunk(Backend& backend, const std::vector<Unit>& units, int planes,
                          const std::vector<UnitRange>& chunk, Watchdog& watchdog,
                          const std::function<bool()>& wants_more);

// What the device has accumulated, while the watchdog looks at it.
Accumulators take_statistics(const Backend& backend, Watchdog& watchdog);
// From now on the device has accumulated nothing.
void forget_statistics(Backend& backend, Watchdog& watchdog, int height, int width);

// What must be the same for all ranks of a search, since their statistics are put together:
// backend, transforms, precision and numerics version, as a text to compare and to show.
std::string numerics_signature(const Backend& backend);

// best_z of what one device has done since the last merge; 0 after too few correlations for a
// deviation, unless they are `all` there are.
double own_best_z(const Backend& backend, int64_t correlations, bool all);

}  // namespace engine

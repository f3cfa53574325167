// The work of every rank: correlates a chunk of units on a device, batch by batch.
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
  uint32_t units = 0;  // how many, from the chunk's beginning
  int64_t correlations = 0;
};

// Correlates the units of `chunk` in `planes` defocus planes, batch by batch, until `wants_more`
// returns false after a batch.
ChunkDone correlate_chunk(Backend& backend, const std::vector<Unit>& units, int planes,
                          const std::vector<UnitRange>& chunk, Watchdog& watchdog,
                          const std::function<bool()>& wants_more);

// Returns what the device has accumulated; the watchdog watches the call.
Accumulators take_statistics(const Backend& backend, Watchdog& watchdog);
// Clears what the device has accumulated. `height` and `width` are those of the valid region.
void forget_statistics(Backend& backend, Watchdog& watchdog, int height, int width);

// Returns the backend, transforms, precision and numerics version as a text to compare and to show.
// They must be the same for all ranks of a search, whose statistics are merged.
std::string numerics_signature(const Backend& backend);

// Returns best_z of what one device has done since the last merge; 0 after too few correlations for
// a meaningful deviation, unless these are `all` of the search.
double own_best_z(const Backend& backend, int64_t correlations, bool all);

}  // namespace engine

// A chunk of units on a device, batch by batch: what every rank does.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/ranks/coordinator.h"
#include "engine/ranks/rank_group.h"

namespace engine {

// After each batch `go_on` is asked with the number of units done. Returns how many were done.
uint32_t correlate_chunk(Backend& backend, const std::vector<Unit>& units,
                         const std::vector<UnitRange>& chunk, Watchdog& watchdog,
                         const std::function<bool()>& go_on);

// What must be the same for all ranks of a search, in words: their statistics are put together.
std::string numerics_signature(const Backend& backend);

// best_z of what one device has done since the last merge. Of few correlations the deviation is no
// measure yet: then 0, unless they are `all` there are.
double own_best_z(const Backend& backend, int64_t correlations, bool all);

}  // namespace engine

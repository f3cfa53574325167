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

// Asks `continues` after each batch. Returns how many units were done.
uint32_t correlate_chunk(Backend& backend, const std::vector<Unit>& units,
                         const std::vector<UnitRange>& chunk, Watchdog& watchdog,
                         const std::function<bool()>& continues);

// Backend, precision and numerics version in words: ranks whose statistics are merged must agree.
std::string numerics_signature(const Backend& backend);

// best_z of what one device has done since the last merge. Of few correlations the deviation is no
// measure yet: then 0, unless they are `all` there are.
double own_best_z(const Backend& backend, int64_t correlations, bool all);

}  // namespace engine

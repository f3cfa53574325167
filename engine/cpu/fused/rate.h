// Measures how fast the fused path is on this machine, on a small part of a search.
#pragma once

#include <cstdint>

#include "engine/backend/backend.h"
#include "engine/cpu/cpu_backend.h"

namespace engine::cpu::fused {

// Returns the correlations per second of a search of this shape under this plan. Takes about a
// second, and is slowed by other work on the machine as the search would be.
double measure_rate(const ProblemShape& shape, const MemoryPlan& plan);

// Returns the bytes that measure_rate() needs: less than the search, since each thread goes through
// its share of the arrays and no more than 32 blocks of each.
uint64_t measuring_bytes(const ProblemShape& shape, const MemoryPlan& plan);

}  // namespace engine::cpu::fused

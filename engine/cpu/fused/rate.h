// How fast the fused path is on this machine, measured on a small part of a search.
#pragma once

#include <cstdint>

#include "engine/backend/backend.h"
#include "engine/cpu/cpu_backend.h"

namespace engine::cpu::fused {

// Correlations per second of a search of this shape, as the plan divides its work. Takes about a
// second; what else the machine does meanwhile slows it as it would the search.
double measure_rate(const ProblemShape& shape, const MemoryPlan& plan);

// Bytes that measure_rate takes: less than the search, of whose arrays each thread goes through a
// share and no more than 32 blocks.
uint64_t measuring_bytes(const ProblemShape& shape, const MemoryPlan& plan);

}  // namespace engine::cpu::fused

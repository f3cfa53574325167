// The error of a reduced precision in this very search, from some of its units correlated in both
// precisions (docs/numerics.md, Reduced precision). On any backend.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/backend/backend.h"

namespace engine {

// At most `count` units, spread evenly over the list; the same for every run.
std::vector<Unit> sample_units(std::span<const Unit> units, size_t count = 16);

// What `units` alone accumulate on an empty backend, which is empty again afterwards.
Accumulators accumulate_sample(Backend& backend, std::span<const Unit> units);

// The difference of the two MIPs over all pixels, in deviations of the noise.
struct PrecisionError {
  int64_t units = 0;  // in the sample
  double rms = 0;
  double largest = 0;
};

// Both of one shape, from the same `units` units.
PrecisionError precision_error(const Accumulators& exact, const Accumulators& reduced,
                               int64_t units);

// A sentence for people: "precision fp16: ...".
std::string describe_precision_error(const std::string& precision, const PrecisionError& error);

}  // namespace engine

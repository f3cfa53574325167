// What a reduced precision costs this very search: some of its units are correlated in both. On any
// backend.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/backend/backend.h"

namespace engine {

// Spread evenly over the list, by a rule that knows nothing else.
std::vector<Unit> sample_units(std::span<const Unit> units, size_t count = 16);

// What `units` alone leave on a backend that has accumulated nothing yet; afterwards it has not.
Accumulators accumulate_sample(Backend& backend, std::span<const Unit> units);

// Of the MIP over all pixels. A correlation's unit is the deviation of noise.
struct PrecisionError {
  int64_t units = 0;  // in the sample
  double rms = 0;
  double largest = 0;
};

// `units`: how many left both.
PrecisionError precision_error(const Accumulators& exact, const Accumulators& reduced,
                               int64_t units);

// For people: "precision fp16: ...".
std::string describe_precision_error(const std::string& precision, const PrecisionError& error);

}  // namespace engine

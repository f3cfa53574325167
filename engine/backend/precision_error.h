// Measures the error of a reduced precision in a search, by correlating some of its units in both
// precisions (docs/numerics.md, Reduced precision). It works with any backend.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/backend/backend.h"

namespace engine {

// Returns at most `count` units, spread evenly over the list; the choice is the same in every run.
std::vector<Unit> sample_units(std::span<const Unit> units, size_t count = 16);

// Returns what `units` alone accumulate. `backend` must be empty, and is empty again afterwards.
Accumulators accumulate_sample(Backend& backend, std::span<const Unit> units);

// The difference between the two MIPs over all pixels, in standard deviations of the noise.
struct PrecisionError {
  int64_t units = 0;  // in the sample
  double rms = 0;
  double largest = 0;
};

// Compares accumulators of the same shape and from the same units; `units` is their number.
PrecisionError precision_error(const Accumulators& exact, const Accumulators& reduced,
                               int64_t units);

// Returns a sentence for people: "precision fp16: ...".
std::string describe_precision_error(const std::string& precision, const PrecisionError& error);

}  // namespace engine

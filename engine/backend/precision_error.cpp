#include "engine/backend/precision_error.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace engine {

std::vector<Unit> sample_units(std::span<const Unit> units, size_t count) {
  if (units.size() <= count) return {units.begin(), units.end()};
  std::vector<Unit> sample;
  // The middle of each of `count` equal parts.
  for (size_t i = 0; i < count; ++i) {
    sample.push_back(units[(2 * i + 1) * units.size() / (2 * count)]);
  }
  return sample;
}

Accumulators accumulate_sample(Backend& backend, std::span<const Unit> units) {
  backend.correlate(units);
  Accumulators found = backend.accumulators();
  backend.restore(Accumulators(found.height, found.width));
  return found;
}

PrecisionError precision_error(const Accumulators& exact, const Accumulators& reduced,
                               int64_t units) {
  PrecisionError error{.units = units};
  double squares = 0;
  for (size_t i = 0; i < exact.best.size(); ++i) {
    const double difference = std::abs(static_cast<double>(best_value(reduced.best[i])) -
                                       static_cast<double>(best_value(exact.best[i])));
    squares += difference * difference;
    error.largest = std::max(error.largest, difference);
  }
  error.rms = std::sqrt(squares / static_cast<double>(exact.best.size()));
  return error;
}

std::string describe_precision_error(const std::string& precision, const PrecisionError& error) {
  char numbers[160];
  std::snprintf(numbers, sizeof numbers,
                "over %lld units of this search the MIP differs from fp32's by %.2g rms and %.2g "
                "at most, in deviations of the noise",
                static_cast<long long>(error.units), error.rms, error.largest);
  return "precision " + precision + ": " + numbers;
}

}  // namespace engine

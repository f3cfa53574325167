// The fewest bytes that each kernel of a search must move through the device's memory: what it
// reads, each number once, and what it writes. Over the measured bandwidth of a copy they are its
// floor in time. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace bench {

// One call of Backend::correlate.
struct Work {
  int64_t height = 0, width = 0, n = 0;  // of the micrograph and the template, pixels
  int64_t planes = 0;
  int64_t units = 0;       // orientations, or pairs of them
  int64_t transforms = 0;  // of pairs of correlations, all passes together
  int64_t in_pass = 1;     // transforms of one pass
  // Of the fused path; no tiles: library transforms.
  int64_t tiles = 0;
  int64_t row_length = 0, column_length = 0;  // of the transforms along rows, down columns
  int64_t kept_rows = 0;                      // of a tile, that the map takes
  int64_t number_bytes = 8;                   // of a stored complex number

  int64_t passes() const { return (transforms + in_pass - 1) / in_pass; }
};

// All launches of a call together. Nothing for a name that is not known; a library transform goes
// by its plan's name ("cuFFT's transform of 8 lines of 4096") and counts for `launches` of it.
std::optional<double> kernel_bytes(const std::string& kernel, const Work& work, int64_t launches);

}  // namespace bench

// Saves an unfinished search: the accumulators and the set of finished units, in one file for any
// number of ranks. Layout (little-endian): "MARGAYCP", uint32 format, uint32 length of the header,
// the header as JSON, the bitmap of finished units, then best, sum and squares of every pixel (8
// bytes each), then the SHA-256 of everything before it.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/numerics/statistics.h"

namespace engine {

// Two searches are the same where these parts are equal. They have names so that an error can say
// what differs.
struct SearchIdentity {
  std::vector<std::pair<std::string, std::string>> parts;  // name, and content or its hash
  std::string hash() const;
};

struct Checkpoint {
  int numerics_version = 1;
  std::string backend;    // "cpu", "cuda"
  std::string fft;        // "fused", "fftw", "cufft"
  std::string precision;  // "fp32", "fp16"
  SearchIdentity identity;
  std::vector<bool> finished;  // per unit
  Accumulators accumulators;
};

// A checkpoint cannot be used. The message names the file and what is wrong.
class DamagedCheckpoint : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Writes under another name, flushes and renames, so that an older checkpoint survives a failure.
// Throws Error.
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint);

// Throws InputError when the file is missing or no checkpoint, and DamagedCheckpoint when it cannot
// be used.
Checkpoint read_checkpoint(const std::string& path);

// Throws InputError naming every difference in the search, the backend, the transforms or the
// precision between `found` and `wanted`, and DamagedCheckpoint when only the numerics version
// differs.
void check_same_search(const std::string& path, const Checkpoint& found, const Checkpoint& wanted);

}  // namespace engine

// A search interrupted: accumulators and the set of finished units, in one file whatever the number
// of ranks. Layout (little-endian): "MARGAYCP", uint32 format, uint32 length of the header, the
// header as JSON, the bitmap of finished units, then best, sum and squares of every pixel (8 bytes
// each), then the SHA-256 of all before.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/numerics/statistics.h"

namespace engine {

// What makes two searches the same: named parts, so that a refusal can say what differs.
struct SearchIdentity {
  std::vector<std::pair<std::string, std::string>> parts;  // name, content or its hash
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

// A checkpoint that cannot be used. The message names the file and what is wrong.
class DamagedCheckpoint : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Written aside, flushed and renamed, so that an older one survives a failure. Throws Error.
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint);

// Throws InputError when the file is not there or of another kind, DamagedCheckpoint when it cannot
// be used.
Checkpoint read_checkpoint(const std::string& path);

// Throws InputError naming every part in which `found` is another search than `wanted`, or is of
// another backend, of other transforms or another precision; DamagedCheckpoint when the same search
// has another numerics version.
void check_same_search(const std::string& path, const Checkpoint& found, const Checkpoint& wanted);

}  // namespace engine

// Micrographs as a file of another program lists them, and the file's format found by its bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/records.h"
#include "scheduler/ingest/ingest_error.h"

namespace scheduler::ingest {

// What the other program took for the optics of a micrograph; 0: the file does not say.
struct ListedOptics {
  double pixel_size = 0;            // A
  double voltage = 0;               // kV
  double spherical_aberration = 0;  // mm
};

struct ListedMicrograph {
  std::string place{};  // in the file: "line 12", "record 3"
  std::string path{};   // as the file has it, mostly relative to a project's folder
  db::Ctf ctf{};        // defocus in A, angles in degrees
  ListedOptics optics{};
  std::string refused{};  // why it cannot be used, a clause; empty: it can
};

// RELION's STAR files or cryoSPARC's exposures. `name` is the file's, for messages and as the
// source of the CTF. What is wrong with one micrograph is its own `refused`. Throws IngestError for
// what concerns the whole file: another format, a missing column (named), a cut file.
std::vector<ListedMicrograph> parse_list(const std::string& bytes, const std::string& name);

}  // namespace scheduler::ingest

// Micrographs and their CTF as a file of another program has them.
#pragma once

#include <string>

#include "db/records.h"

namespace scheduler::ingest {

// The optics of a micrograph according to the other program; 0: the file does not say.
struct ListedOptics {
  double pixel_size = 0;            // A
  double voltage = 0;               // kV
  double spherical_aberration = 0;  // mm
};

struct CtfAndOptics {
  db::Ctf ctf{};
  ListedOptics optics{};
};

struct ListedMicrograph {
  std::string place{};  // place in the file: "line 12", "record 3"
  std::string path{};   // as in the file, mostly relative to a project's folder
  db::Ctf ctf{};        // defocus in A, angles in degrees
  ListedOptics optics{};
  std::string refused{};  // why it cannot be used, a clause; empty: it can
};

}  // namespace scheduler::ingest

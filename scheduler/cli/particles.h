// The peak lists of many searches as one file: RELION's particles, or Leopard-EM's table. Pure.
#pragma once

#include <string>
#include <vector>

namespace scheduler::cli {

// The engine's peak list of one search.
struct PeakList {
  std::string csv{};   // its text
  std::string name{};  // for messages
};

// A STAR file of particles in the form of RELION 3.1 and later, with an optics group for each
// combination of pixel size, voltage, spherical aberration and amplitude contrast. Coordinates are
// the particles' centres in pixels; rot, tilt and psi are our phi, theta and psi (docs/ingest.md).
// Paths of micrographs below `project` are relative to it; empty: none is. Throws Failure naming
// the list and the column that is missing or no number.
std::string particles_star(const std::vector<PeakList>& lists, const std::string& project);

// One table with Leopard-EM's columns; its rows are numbered anew. Throws Failure naming a list
// with other columns than the first.
std::string joined_csv(const std::vector<PeakList>& lists);

}  // namespace scheduler::cli

// The peak lists of many searches as one file: RELION's particles or Leopard-EM's table. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace scheduler::cli {

// The engine's peak list of one search.
struct PeakList {
  std::string csv{};   // the CSV text
  std::string name{};  // for messages
};

// A STAR file of particles in the form of RELION 3.1 and later, with an optics group for each
// combination of pixel size, voltage, spherical aberration and amplitude contrast. Coordinates are
// the particles' centres in pixels; rot, tilt and psi are our phi, theta and psi (docs/ingest.md).
class ParticlesStar {
 public:
  // Micrograph paths below `project` are written relative to it; if it is empty, none is.
  explicit ParticlesStar(std::string project) : project_(std::move(project)) {}

  // Throws Failure naming the list and the column that is missing or not a number; text() must not
  // be used then.
  void add(const PeakList& list);
  std::string text() const;

 private:
  // The optics that define a group, in the order of their columns. The last two are RELION's pixel
  // size and side in pixels of the particle images: here those of the template.
  using Optics = std::array<double, 6>;

  class PeakTable;
  void add(const PeakTable& peaks, size_t i);

  std::string project_;
  std::map<Optics, int> groups_;
  std::string rows_;
};

// One table with Leopard-EM's columns; its rows are renumbered.
class JoinedCsv {
 public:
  // Throws Failure naming a list with other columns than the first; text() must not be used then.
  void add(const PeakList& list);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::string header_;
  std::string first_;  // name of the list that the header is from
  int64_t rows_ = 0;
};

}  // namespace scheduler::cli

// The orientations of a search and their order (docs/numerics.md, Orientations). Pure functions.
//
// Angles are ZYZ intrinsic in degrees, R = Rz(phi) Ry(theta) Rz(psi); they are computed in double
// and stored as float32. Within a grid, psi varies slowest, then the base grid.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/config/config.h"

namespace engine {

// A search has fewer correlations than this, so that the index of each fits a signed 32-bit
// integer.
constexpr int64_t kIndexLimit = (int64_t{1} << 31) - 1;

struct Orientation {
  float phi = 0, theta = 0, psi = 0;  // degrees
};

// The part of the list that one grid makes: index = first + ipsi * base_count + ibase.
struct GridExtent {
  int64_t first = 0;
  int64_t base_count = 0;
  int64_t psi_count = 0;
  double psi_step = 0;  // degrees
};

struct OrientationList {
  std::vector<Orientation> orientations;
  std::vector<GridExtent> grids;
};

// Throws InputError when a grid has no orientation or its symmetry is not known.
OrientationList make_orientations(const std::vector<OrientationGrid>& grids);

// Returns how many orientations make_orientations() would make, without making them. Throws
// InputError for an unknown symmetry, and when there are kIndexLimit or more.
int64_t count_orientations(const std::vector<OrientationGrid>& grids);

// A 3 x 3 matrix, row-major, that acts on column vectors (x, y, z).
using Rotation = std::array<double, 9>;
// Returns Rz(phi) Ry(theta) Rz(psi); angles are in degrees.
Rotation rotation_matrix(double phi, double theta, double psi);
Rotation rotation_matrix(const Orientation& orientation);

// Returns the angle, in degrees, of the rotation that takes `a` to `b`.
double rotation_distance(const Rotation& a, const Rotation& b);

// A unit of work: one orientation, or two that share a projection because they differ by 180
// degrees in psi. The list of orientations alone decides the units; batches, chunks and checkpoints
// count units.
struct Unit {
  int64_t first = 0;
  int64_t second = -1;  // -1: none; else its projection is that of `first`, mirrored

  int orientations() const { return second >= 0 ? 2 : 1; }
};

// Puts every orientation into exactly one unit, and returns the units in the order of `first`.
// Pairs are made where `may_pair` is true and 180 is a multiple of the grid's psi_step, but not
// where the whole slice lies in the plane kx = 0 of the volume: theta 90, phi 0 or 180
// (docs/numerics.md, Pairs of psi and psi + 180).
std::vector<Unit> make_units(const OrientationList& list, bool may_pair);

}  // namespace engine

#include "engine/numerics/orientations.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "base/parse_number.h"
#include "engine/error.h"

namespace engine {
namespace {

constexpr double kRadiansPerDegree = std::numbers::pi / 180.0;

struct Ranges {
  double phi_min = 0, phi_max = 360, theta_min = 0, theta_max = 180, psi_min = 0, psi_max = 360;
};

struct Direction {
  double phi, theta;  // degrees
};

// What a group, written as the configuration has it (C4, T), leaves to be searched from 0 on;
// phi_max is divided by the order, which only C and D have.
struct Group {
  char letter;
  double phi_max, theta_max;  // degrees
};
constexpr std::array<Group, 5> kGroups = {
    {{'C', 360, 180}, {'D', 360, 90}, {'T', 180, 54.7356}, {'O', 90, 54.7356}, {'I', 180, 31.7}}};

Ranges symmetry_ranges(const std::string& symmetry) {
  const int order =
      symmetry.size() == 1 ? 1 : base::parse_number<int>(symmetry.substr(1)).value_or(0);
  for (const auto& [letter, phi_max, theta_max] : kGroups) {
    if (order < 1 || symmetry[0] != letter) continue;
    return {.phi_max = phi_max / order, .theta_max = theta_max};
  }
  throw InputError("orientation_search_config.symmetry: '" + symmetry +
                   "' is not a known group; use Cn, Dn, T, O or I");
}

Ranges ranges_of(const OrientationGrid& grid) {
  if (grid.symmetry) return symmetry_ranges(*grid.symmetry);
  return {.phi_min = grid.phi.min.value_or(0),
          .phi_max = grid.phi.max.value_or(360),
          .theta_min = grid.theta.min.value_or(0),
          .theta_max = grid.theta.max.value_or(180),
          .psi_min = grid.psi.min.value_or(0),
          .psi_max = grid.psi.max.value_or(360)};
}

// `count` as an integer; counts that nobody can search are refused before memory is taken for them.
int64_t checked_count(double count) {
  if (count < static_cast<double>(kIndexLimit)) return static_cast<int64_t>(std::max(count, 0.0));
  throw InputError(
      "orientation_search_config: psi_step or theta_step is too small for the ranges; a search has "
      "at most " +
      std::to_string(kIndexLimit - 1) + " correlations");
}

int64_t steps(double range, double step) { return checked_count(std::ceil(range / step)); }

// One row of directions of equal theta.
struct UniformRow {
  double theta = 0;     // degrees
  double phi_step = 0;  // radians
  int64_t count = 1;
};

// The count of azimuths is ceil(P / (P / m)) in IEEE double, which is m + 1 in some rows: the
// reference's duplicate directions are part of its grid.
UniformRow uniform_row(double theta, const Ranges& r, double theta_step) {
  const double range = (r.phi_max - r.phi_min) * kRadiansPerDegree;
  if (range <= 0) return {.theta = theta};
  const double wanted =
      std::abs(theta_step * kRadiansPerDegree / (std::sin(theta * kRadiansPerDegree) + 1e-6));
  double step = std::min(wanted, range);
  step = range / std::nearbyint(range / step);
  return {.theta = theta, .phi_step = step, .count = steps(range, step)};
}

struct UniformRows {
  std::vector<UniformRow> rows;
  int64_t total = 0;  // directions in them
};

UniformRows uniform_rows(const Ranges& r, double theta_step) {
  UniformRows found;
  auto& [rows, total] = found;
  const int64_t thetas = steps(r.theta_max + theta_step - r.theta_min, theta_step);
  for (int64_t i = 0; i < thetas; ++i) {
    rows.push_back(uniform_row(r.theta_min + static_cast<double>(i) * theta_step, r, theta_step));
    total = checked_count(static_cast<double>(total + rows.back().count));
  }
  return found;
}

std::vector<Direction> uniform_grid(const Ranges& r, double theta_step) {
  const auto [rows, total] = uniform_rows(r, theta_step);
  std::vector<Direction> out;
  out.reserve(static_cast<size_t>(total));
  for (const UniformRow& row : rows) {
    for (int64_t i = 0; i < row.count; ++i) {
      out.push_back(
          {r.phi_min + static_cast<double>(i) * row.phi_step / kRadiansPerDegree, row.theta});
    }
  }
  return out;
}

std::vector<Direction> cartesian_grid(const Ranges& r, double theta_step) {
  constexpr double kPhiStep = 2.5;
  std::vector<Direction> out;
  const int64_t phis = steps(r.phi_max - r.phi_min, kPhiStep);
  const int64_t thetas = steps(r.theta_max - r.theta_min, theta_step);
  checked_count(static_cast<double>(phis) * static_cast<double>(thetas));
  for (int64_t p = 0; p < phis; ++p) {
    for (int64_t t = 0; t < thetas; ++t) {
      out.push_back({r.phi_min + static_cast<double>(p) * kPhiStep,
                     r.theta_min + static_cast<double>(t) * theta_step});
    }
  }
  return out;
}

// Centre of pixel `p` in RING order (Gorski et al. 2005, ApJ 622, 759, equations 4 to 9).
Direction healpix_centre(int64_t nside, int64_t p) {
  const int64_t polar = 2 * nside * (nside - 1);
  const int64_t pixels = 12 * nside * nside;
  const auto n = static_cast<double>(nside);
  double z = 0;
  double phi = 0;
  if (p < polar || p >= pixels - polar) {
    const bool south = p >= polar;
    const int64_t q = south ? pixels - 1 - p : p;
    auto ring = static_cast<int64_t>((1.0 + std::sqrt(1.0 + 2.0 * static_cast<double>(q))) / 2.0);
    if (2 * ring * (ring - 1) > q) --ring;
    if (2 * ring * (ring + 1) <= q) ++ring;
    const int64_t in_ring =
        south ? 4 * ring - (q - 2 * ring * (ring - 1)) - 1 : q - 2 * ring * (ring - 1);
    const auto i = static_cast<double>(ring);
    z = 1.0 - i * i / (3.0 * n * n);
    if (south) z = -z;
    phi = (static_cast<double>(in_ring) + 0.5) * std::numbers::pi / (2.0 * i);
  } else {
    const int64_t q = p - polar;
    const int64_t ring = q / (4 * nside) + nside;
    const int64_t in_ring = q % (4 * nside);
    const double shift = (ring - nside) % 2 == 0 ? 0.5 : 0.0;
    z = (2.0 * n - static_cast<double>(ring)) * 2.0 / (3.0 * n);
    phi = (static_cast<double>(in_ring) + shift) * std::numbers::pi / (2.0 * n);
  }
  return {phi / kRadiansPerDegree, std::acos(z) / kRadiansPerDegree};
}

std::vector<Direction> healpix_grid(const Ranges& r, double theta_step) {
  const double step = theta_step * kRadiansPerDegree;
  const double pixels = std::floor(4.0 * std::numbers::pi / (step * step));
  const int64_t nside = std::max<int64_t>(1, checked_count(std::ceil(std::sqrt(pixels / 12.0))));
  checked_count(12.0 * static_cast<double>(nside) * static_cast<double>(nside));
  std::vector<Direction> out;
  for (int64_t p = 0; p < 12 * nside * nside; ++p) {
    const Direction d = healpix_centre(nside, p);
    if (d.phi >= r.phi_min && d.phi <= r.phi_max && d.theta >= r.theta_min &&
        d.theta <= r.theta_max) {
      out.push_back(d);
    }
  }
  return out;
}

std::vector<Direction> base_grid(const OrientationGrid& grid, const Ranges& r) {
  switch (grid.base_grid) {
    case BaseGrid::kUniform:
      return uniform_grid(r, grid.theta_step);
    case BaseGrid::kHealpix:
      return healpix_grid(r, grid.theta_step);
    case BaseGrid::kCartesian:
      return cartesian_grid(r, grid.theta_step);
  }
  throw InputError("orientation_search_config.base_grid_method is not known");
}

// As many as base_grid() has.
int64_t direction_count(const OrientationGrid& grid, const Ranges& r) {
  if (grid.base_grid == BaseGrid::kUniform) return uniform_rows(r, grid.theta_step).total;
  return static_cast<int64_t>(base_grid(grid, r).size());
}

int64_t psi_count(const OrientationGrid& grid, const Ranges& r) {
  return r.psi_min >= r.psi_max ? 1 : steps(r.psi_max - r.psi_min, grid.psi_step);
}

// psi indices that lie 180 degrees apart, or 0 when 180 is no multiple of the step.
int64_t half_turn(double psi_step) {
  const double turns = 180.0 / psi_step;
  const double whole = std::nearbyint(turns);
  return std::abs(turns - whole) < 1e-9 * whole ? static_cast<int64_t>(whole) : 0;
}

Rotation multiply(const Rotation& a, const Rotation& b) {
  Rotation c{};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      for (size_t k = 0; k < 3; ++k) c[3 * i + j] += a[3 * i + k] * b[3 * k + j];
    }
  }
  return c;
}

Rotation about_z(double degrees) {
  const double c = std::cos(degrees * kRadiansPerDegree);
  const double s = std::sin(degrees * kRadiansPerDegree);
  return {c, -s, 0, s, c, 0, 0, 0, 1};
}

Rotation about_y(double degrees) {
  const double c = std::cos(degrees * kRadiansPerDegree);
  const double s = std::sin(degrees * kRadiansPerDegree);
  return {c, 0, s, 0, 1, 0, -s, 0, c};
}

// True when every slice of this direction lies in the plane kx = 0 of the volume. There psi and
// psi + 180 read opposite edges of the plane, of which one is stored: they are no mirror images.
bool lies_in_stored_plane(const Orientation& o) {
  constexpr double kZero = 1e-6;  // angles are kept in single precision
  return std::abs(std::sin(static_cast<double>(o.phi) * kRadiansPerDegree)) < kZero &&
         std::abs(std::cos(static_cast<double>(o.theta) * kRadiansPerDegree)) < kZero;
}

}  // namespace

OrientationList make_orientations(const std::vector<OrientationGrid>& grids) {
  OrientationList list;
  for (const OrientationGrid& grid : grids) {
    const Ranges r = ranges_of(grid);
    const std::vector<Direction> base = base_grid(grid, r);
    const int64_t psis = psi_count(grid, r);
    const GridExtent extent{static_cast<int64_t>(list.orientations.size()),
                            static_cast<int64_t>(base.size()), psis, grid.psi_step};
    for (int64_t i = 0; i < psis; ++i) {
      const double psi = r.psi_min + static_cast<double>(i) * grid.psi_step;
      for (const Direction& d : base) {
        list.orientations.push_back(
            {static_cast<float>(d.phi), static_cast<float>(d.theta), static_cast<float>(psi)});
      }
    }
    list.grids.push_back(extent);
  }
  if (list.orientations.empty()) {
    throw InputError("orientation_search_config: no orientation lies in the given ranges");
  }
  return list;
}

int64_t count_orientations(const std::vector<OrientationGrid>& grids) {
  int64_t count = 0;
  for (const OrientationGrid& grid : grids) {
    const Ranges r = ranges_of(grid);
    const double added =
        static_cast<double>(direction_count(grid, r)) * static_cast<double>(psi_count(grid, r));
    count = checked_count(static_cast<double>(count) + added);
  }
  return count;
}

Rotation rotation_matrix(double phi, double theta, double psi) {
  return multiply(multiply(about_z(phi), about_y(theta)), about_z(psi));
}

Rotation rotation_matrix(const Orientation& o) {
  return rotation_matrix(static_cast<double>(o.phi), static_cast<double>(o.theta),
                         static_cast<double>(o.psi));
}

double rotation_distance(const Rotation& a, const Rotation& b) {
  double trace = 0;
  for (size_t i = 0; i < 9; ++i) trace += a[i] * b[i];
  return std::acos(std::clamp((trace - 1.0) / 2.0, -1.0, 1.0)) / kRadiansPerDegree;
}

std::vector<Unit> make_units(const OrientationList& list, bool may_pair) {
  std::vector<Unit> units;
  for (const GridExtent& grid : list.grids) {
    const int64_t half = may_pair ? half_turn(grid.psi_step) : 0;
    for (int64_t i = 0; i < grid.psi_count; ++i) {
      const bool has_earlier = half > 0 && (i / half) % 2 == 1;
      const bool has_later = half > 0 && !has_earlier && i + half < grid.psi_count;
      for (int64_t b = 0; b < grid.base_count; ++b) {
        const int64_t first = grid.first + i * grid.base_count + b;
        const bool alone = lies_in_stored_plane(list.orientations[static_cast<size_t>(first)]);
        if (has_earlier && !alone) continue;
        units.push_back({first, has_later && !alone ? first + half * grid.base_count : -1});
      }
    }
  }
  return units;
}

}  // namespace engine

// The reference data of tests/data/leopard-em, and how far our maps may be from it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/io/image.h"
#include "engine/numerics/maps.h"
#include "engine/numerics/peaks.h"

namespace tests {

struct ReferenceCase {
  std::string name;
  int64_t orientations = 0;
  int64_t planes = 0;
  std::optional<int> window_column, window_row;  // none: the maps are there whole, or not at all
};

// Throws when the case is not in cases.csv.
ReferenceCase reference_case(const std::string& name);
// Reads leopard-em/NAME/FILE of tests/data.
std::string reference_path(const std::string& name, const std::string& file);

// The folder that MARGAY_REFERENCE names, with every map whole.
std::optional<std::string> whole_reference();

engine::Maps read_window(const std::string& path);
// The eight maps of a folder.
engine::Maps read_whole_maps(const std::string& folder);
engine::Image read_image(const std::string& path);
engine::Maps cut(const engine::Maps& maps, int row, int column, int height, int width);

// Differences of ours from the reference: rms in units of the reference's mean deviation.
struct Agreement {
  double mip = 0, scaled_mip = 0, mean = 0, sd = 0;
  double largest_mip = 0;
  double same_pose = 0;      // part of all pixels
  int64_t wrong_untied = 0;  // pixels of another pose although theirs has no rival
};
Agreement compare(const engine::Maps& ours, const engine::Maps& reference,
                  const std::optional<engine::Image>& untied = std::nullopt);
std::string describe(const Agreement& agreement);

// The pixels, as one row, at which the best pose of neither side is axis-degenerate: of a slice
// that has samples on the plane kx = 0 of the volume (of `size` voxels) Leopard-EM's float32
// coordinates lose some, by rounding, and ours none.
struct MapsPair {
  engine::Maps ours, reference;
};
MapsPair at_regular_poses(const engine::Maps& ours, const engine::Maps& reference, int size);

// One row of a peak list or a truth list: the numbers that comparisons need.
struct Particle {
  double x = 0, y = 0;  // centre, pixels of the micrograph
  double phi = 0, theta = 0, psi = 0;
  double relative_defocus = 0;
  double z = 0;
  double mip = 0;
};
std::vector<Particle> read_peak_list(const std::string& path);
std::vector<Particle> read_truth(const std::string& path);
// The peaks of a search with a template of `template_size` pixels.
std::vector<Particle> particles_of(const engine::Maps& maps, int template_size = 128);

double distance(const Particle& a, const Particle& b);       // pixels
double pose_distance(const Particle& a, const Particle& b);  // degrees
// The one nearest to `wanted`, at most `reach` pixels away.
std::optional<Particle> nearest(const std::vector<Particle>& particles, const Particle& wanted,
                                double reach = 10.0);

}  // namespace tests

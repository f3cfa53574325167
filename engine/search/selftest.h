// Searches with known answers on this machine's device, and compares the peaks with the truth.
#pragma once

#include <string>
#include <vector>

#include "engine/numerics/orientations.h"
#include "engine/numerics/peaks.h"
#include "engine/numerics/simulate.h"
#include "engine/search/device.h"

namespace engine {

// Says how well a planted particle was found.
struct Recovery {
  PlantedParticle truth;
  bool found = false;  // some peak lies within `max_pixels` of it
  Peak peak;           // the nearest one, when found
  double pixels = 0;   // distance in the plane
  double degrees = 0;  // angle of the rotation between truth and peak
};

// Returns one Recovery for every planted particle: the nearest peak within `max_pixels` of it.
// Peaks are corners of boxes of `template_size` pixels.
std::vector<Recovery> compare_with_truth(const std::vector<PlantedParticle>& truth,
                                         const std::vector<Peak>& peaks, int template_size,
                                         double max_pixels);

// Reads the columns x_px, y_px, phi_deg, theta_deg, psi_deg, defocus_offset_A by name. Throws
// InputError naming the file and the column.
std::vector<PlantedParticle> read_truth_csv(const std::string& path);

struct SelftestResult {
  bool passed = true;
  std::vector<std::string> lines;  // planted and found particles, for people
};

// Runs two searches with known answers: of a crop whose particles were made from atoms, and of a
// micrograph that is simulated here. `data_folder` holds lsu_crop.yaml with its micrograph,
// template and truth.
SelftestResult run_selftest(const std::string& data_folder, const DeviceOptions& device);

}  // namespace engine

// A known-answer search on this machine's device, and how its peaks compare with the truth.
#pragma once

#include <string>
#include <vector>

#include "engine/numerics/orientations.h"
#include "engine/numerics/peaks.h"
#include "engine/numerics/simulate.h"
#include "engine/search/device.h"

namespace engine {

// How a planted particle was found.
struct Recovery {
  PlantedParticle truth;
  bool found = false;  // some peak lies within `max_pixels` of it
  Peak peak;           // the nearest one, when found
  double pixels = 0;   // distance in the plane
  double degrees = 0;  // rotation between truth and peak
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
  std::vector<std::string> lines;  // what was planted and what was found, for people
};

// `data_folder` holds lsu_crop.yaml, its micrograph, template and truth. Two answers: a crop whose
// particles were made from atoms, and a micrograph simulated here.
SelftestResult run_selftest(const std::string& data_folder, const DeviceOptions& device);

}  // namespace engine

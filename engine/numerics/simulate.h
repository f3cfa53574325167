// A micrograph with known particles, made from a template (docs/numerics.md, Simulated
// micrographs).
//
// Its particles come from the template through our own slicer, so a wrong handedness there would
// agree with itself: known answers made from atoms stand in tests/data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/config/config.h"
#include "engine/io/image.h"
#include "engine/io/volume.h"
#include "engine/numerics/orientations.h"

namespace engine {

struct PlantedParticle {
  double x = 0, y = 0;  // 0-based pixel (column, row) of the template's voxel (n/2, n/2, n/2)
  double phi = 0, theta = 0, psi = 0;  // degrees
  double defocus_offset = 0;           // A
  double z = 0;                        // of the matched filter
};

struct SimulationOptions {
  int height = 512;  // pixels, even
  int width = 512;
  int particles = 6;
  uint64_t seed = 1;
  // Signal of a particle as the z-score that a matched filter at its true pose would give.
  double z = 15.0;
  // Defocus offsets are drawn from these planes, in A.
  std::vector<float> defocus_offsets = {0.0f};
  // Orientations are drawn from the whole sphere, or from these when there are any.
  std::vector<Orientation> orientations;
  // These particles instead of drawn ones; a z of 0 means `z`.
  std::vector<PlantedParticle> planted;
  double mean = 12.0;  // counts
  double sd = 2.0;
};

struct Simulation {
  Image micrograph;
  std::vector<PlantedParticle> truth;
};

// Boxes lie inside the image; centres are at least half a box apart. Noise: white plus a background
// that falls with frequency as in ice (30 exp(-(45 A s)^2) times the white power). The same options
// give the same micrograph. Throws InputError when the particles do not fit.
Simulation simulate(const Volume& volume, const OpticsGroup& optics,
                    const SimulationOptions& options);

// id,x_px,y_px,phi_deg,theta_deg,psi_deg,defocus_offset_A,z_ideal
std::string truth_csv(const std::vector<PlantedParticle>& truth);

}  // namespace engine

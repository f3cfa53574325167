// Simulates a micrograph with known particles of a template (docs/numerics.md, Simulated
// micrographs).
//
// The particles come from our own slicer, so a search of them cannot show a wrong handedness there;
// tests/data has known answers made from atoms for that.
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
  double z = 0;                        // z-score that a matched filter would give
};

struct SimulationOptions {
  int height = 512;  // pixels, even
  int width = 512;
  int particles = 6;
  uint64_t seed = 1;
  // The signal of a particle, as the z-score that a matched filter gives at its true pose.
  double z = 15.0;
  // Defocus offsets are drawn from these planes, in A.
  std::vector<float> defocus_offsets = {0.0f};
  // Orientations are drawn from the whole sphere, or from these when there are any.
  std::vector<Orientation> orientations;
  // Particles to use instead of drawn ones; a z of 0 means `z`.
  std::vector<PlantedParticle> planted;
  double mean = 12.0;  // counts
  double sd = 2.0;
};

struct Simulation {
  Image micrograph;
  std::vector<PlantedParticle> truth;
};

// Particles' boxes lie inside the image, and their centres are at least half a box apart. The noise
// is white plus a background that falls with the frequency s as in ice (30 exp(-(45 A s)^2) times
// the white power). The same options give the same micrograph. Throws InputError when the particles
// do not fit, for sides that are odd or too small, and for an empty template.
Simulation simulate(const Volume& volume, const OpticsGroup& optics,
                    const SimulationOptions& options);

// Returns CSV with the columns id,x_px,y_px,phi_deg,theta_deg,psi_deg,defocus_offset_A,z_ideal.
std::string truth_csv(const std::vector<PlantedParticle>& truth);

}  // namespace engine

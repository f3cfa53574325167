// The results of a search for each pixel of the valid region, (H-n+1) x (W-n+1). A pixel stands for
// the template box whose top-left corner it is.
#pragma once

#include <cstdint>

#include "engine/io/image.h"

namespace engine {

struct Maps {
  int height = 0;
  int width = 0;
  Image mip;               // largest correlation over all orientations and defocus planes
  Image scaled_mip;        // (mip - mean) / sd; 0 where sd < kSmallestDeviation (statistics.h)
  Image mean;              // of all correlations at the pixel
  Image sd;                // their standard deviation (Leopard-EM's "correlation_variance")
  Image psi, theta, phi;   // degrees, of the best orientation
  Image relative_defocus;  // A, of the best plane
  int64_t total_orientations = 0;
  int64_t total_defocus = 0;
  int64_t total_correlations = 0;  // orientations x defocus planes ("total_projections")
};

}  // namespace engine

// The seam between the search and the device that does it. Coarse on purpose: fusing needs the hot
// loop on one side. Arrays are row by row, the last index fastest; half planes have rows 0 ..
// n/2-1, -n/2 .. -1 and columns 0 .. n/2.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/numerics/ctf.h"
#include "engine/numerics/orientations.h"
#include "engine/numerics/statistics.h"

namespace engine {

// Everything a device needs for one micrograph and one template. Made once, read only.
struct Problem {
  int height = 0;  // of the micrograph, pixels
  int width = 0;
  int template_size = 0;  // n
  // height x (width/2+1): prepare_image's spectrum.
  std::vector<std::complex<float>> image_spectrum;
  // n x n x (n/2+1): volume_spectrum.
  std::vector<std::complex<float>> volume_spectrum;
  // Per defocus plane, n x (n/2+1); real unless the optics have odd Zernikes.
  std::vector<std::vector<std::complex<float>>> filters;
  bool magnified = false;  // `magnification` is to be applied to every slice
  // A sentence about the micrograph's pixel farthest from its mean, for messages about overflow.
  std::string extreme_pixel;
  FrequencyTransform magnification;
  std::vector<Orientation> orientations;

  int planes() const { return static_cast<int>(filters.size()); }
  int valid_height() const { return height - template_size + 1; }
  int valid_width() const { return width - template_size + 1; }
};

// What decides how much memory a search needs: sides in pixels, and counts.
struct ProblemShape {
  int height = 0, width = 0, template_size = 0, planes = 0;
  int64_t orientations = 0;  // 0: not known
};

struct MemoryItem {
  std::string name;
  uint64_t bytes = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  // "cpu" or "cuda".
  virtual std::string name() const = 0;
  // The precision of the correlations, as precision_name (transform_path.h) has it. What was
  // accumulated in one cannot be continued in another.
  virtual std::string precision() const { return "fp32"; }
  // Whose transforms they are, as TransformPath::fft has it. What was accumulated by one cannot be
  // continued by another.
  virtual std::string fft() const = 0;
  // Correlates every projection of `units` and adds the statistics. Whatever the order and the
  // grouping of units over calls, the accumulators end the same to the bit. Throws InputError when
  // a sum leaves its range. May return with work still to be done: what happens to that is thrown
  // by a later call, of whichever function.
  virtual void correlate(std::span<const Unit> units) = 0;
  // How many units one call should have to keep the device busy, 1 or more.
  virtual int batch() const = 0;
  // What has been accumulated so far, in the form that checkpoints and ranks exchange.
  virtual Accumulators accumulators() const = 0;
  // Largest (mip - mean) / sd over the pixels after `correlations` of them.
  virtual double best_z(int64_t correlations) const = 0;
  // Replaces what has been accumulated; `accumulators` has the valid region's shape.
  virtual void restore(const Accumulators& accumulators) = 0;
};

}  // namespace engine

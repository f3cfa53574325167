// The interface between the search and the device that computes it. It is coarse on purpose: a
// fused implementation needs the whole hot loop on its side. Arrays are row-major, the last index
// fastest; half planes have rows 0 .. n/2-1, -n/2 .. -1 and columns 0 .. n/2.
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

// Everything a device needs for one micrograph and one template. Nobody changes it once it is made.
struct Problem {
  int height = 0;  // of the micrograph, pixels
  int width = 0;
  int template_size = 0;  // n
  // height x (width/2+1): the spectrum from prepare_image().
  std::vector<std::complex<float>> image_spectrum;
  // n x n x (n/2+1): the result of volume_spectrum().
  std::vector<std::complex<float>> volume_spectrum;
  // One filter per defocus plane, n x (n/2+1); real unless the optics have odd Zernikes.
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

// The sizes on which a search's memory depends: sides in pixels, and counts.
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
  // The precision of the correlations, as precision_name() (transform_path.h) writes it.
  // Accumulators of one precision cannot be continued in another.
  virtual std::string precision() const { return "fp32"; }
  // The kind of transforms, as in TransformPath::fft. Accumulators of one kind cannot be continued
  // with another.
  virtual std::string fft() const = 0;
  // Correlates every projection of `units` and adds the statistics. The accumulators end the same
  // to the bit whatever the order and the grouping of units over calls. Throws InputError when a
  // sum leaves its range. It may return before the work is done, and any later call may then throw
  // the error of that work.
  virtual void correlate(std::span<const Unit> units) = 0;
  // How many units one call of correlate() should have to keep the device busy, 1 or more.
  virtual int batch() const = 0;
  // Returns what has been accumulated so far, in the form that checkpoints and ranks use.
  virtual Accumulators accumulators() const = 0;
  // Returns the largest (mip - mean) / sd over all pixels, each of which has had `correlations`
  // correlations.
  virtual double best_z(int64_t correlations) const = 0;
  // Replaces what has been accumulated. `accumulators` must have the valid region's shape.
  virtual void restore(const Accumulators& accumulators) = 0;
};

}  // namespace engine

// Makes the projections of a batch of units on a team of threads: slice, filter, back-transform,
// and what normalises them.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/transforms.h"
#include "engine/cpu/back_transform.h"
#include "engine/cpu/thread_team.h"
#include "engine/numerics/fft_plan.h"
#include "engine/numerics/projection.h"

namespace engine::cpu {

// One of the two projections of a transform. Its n x n pixels are not normalised; where `mirrored`,
// p(-y, -x) is wanted of them. Without pixels it is zeros.
struct Projected {
  const float* pixels = nullptr;
  bool mirrored = false;
  Normalisation normalisation;
};

class Projector {
 public:
  // Makes room for up to `batch` units and `threads` threads. Projections are divided by `points`,
  // the normalisation of two transforms of that many points. `back_transform` is for as many
  // threads. `problem` must outlive this object.
  Projector(const Problem& problem, int batch, int threads, double points,
            std::unique_ptr<BackTransform> back_transform);

  void project(std::span<const Unit> units, ThreadTeam& team);
  // These return the two projections of a transform that list_transforms() gave for the units that
  // were projected last. They are valid until the next call of project().
  Projected first_of(const Transform& t) const;
  Projected second_of(const Transform& t) const;

 private:
  const Problem& problem_;
  const int n_;
  const double scale_;
  const size_t slice_size_;  // n x (n/2+1)
  const size_t box_size_;    // n x n
  const std::unique_ptr<BackTransform> back_transform_;
  std::vector<std::vector<Complex>> magnified_;  // a magnified slice, for each thread
  AlignedArray<Complex> slices_;                 // one per unit
  AlignedArray<float> projections_;              // one per slot: unit and plane
  std::vector<Normalisations> normalisations_;   // of each
};

// Writes one row of a normalised projection, n pixels.
void write_normalised_row(const Projected& projection, int n, int row, float* out);

}  // namespace engine::cpu

// Makes the projections of a batch of units on a team of threads: slice, filter, back-transform and
// normalisation.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/cpu/back_transform.h"
#include "engine/cpu/thread_team.h"
#include "engine/numerics/fft_plan.h"

namespace engine::cpu {

class Projector {
 public:
  // Makes room for up to `batch` units and `threads` threads. Projections are divided by `points`,
  // the normalisation of two transforms of that many points. `back_transform` is for as many
  // threads. `problem` must outlive this object.
  Projector(const Problem& problem, int batch, int threads, double points,
            std::unique_ptr<BackTransform> back_transform);

  void project(std::span<const Unit> units, ThreadTeam& team);
  // Returns the two projections, n x n each and one after the other, of the transform whose first
  // projection has slot `slot` (list_transforms()).
  const float* projections_of(int32_t slot) const {
    return projections_.data() + 2 * static_cast<size_t>(slot) * box_size_;
  }

 private:
  void project_one(const Complex* slice, int plane, bool paired, float* out, int thread);

  const Problem& problem_;
  const int n_;
  const double scale_;
  const size_t slice_size_;  // n x (n/2+1)
  const size_t box_size_;    // n x n
  const std::unique_ptr<BackTransform> back_transform_;
  std::vector<std::vector<Complex>> magnified_;  // a magnified slice, for each thread
  AlignedArray<Complex> slices_;                 // one per unit
  AlignedArray<float> projections_;              // two per unit and plane
};

}  // namespace engine::cpu

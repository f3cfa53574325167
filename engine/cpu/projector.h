// Makes the projections of a batch of units on a team of threads: slice, filter, back-transform and
// normalisation.
#pragma once

#include <span>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/cpu/thread_team.h"
#include "engine/numerics/fft_plan.h"

namespace engine::cpu {

class Projector {
 public:
  // Makes room for up to `batch` units and `threads` threads. Projections are divided by `points`,
  // the normalisation of two transforms of that many points. `problem` must outlive this object.
  Projector(const Problem& problem, int batch, int threads, double points);

  void project(std::span<const Unit> units, ThreadTeam& team);
  // Returns the two projections, n x n each and one after the other, of the transform whose first
  // projection has slot `slot` (list_transforms()).
  const float* projections_of(int32_t slot) const {
    return projections_.data() + 2 * static_cast<size_t>(slot) * box_size_;
  }

 private:
  struct Scratch {
    AlignedArray<Complex> half_plane;    // n x (n/2+1)
    AlignedArray<float> back_transform;  // n x n
    std::vector<Complex> magnified;
  };
  void project_one(const Complex* slice, int plane, bool paired, float* out,
                   Scratch& scratch) const;

  const Problem& problem_;
  const int n_;
  const double scale_;
  const size_t slice_size_;  // n x (n/2+1)
  const size_t box_size_;    // n x n
  ProjectionPlan plan_;
  std::vector<Scratch> scratch_;
  AlignedArray<Complex> slices_;     // one per unit
  AlignedArray<float> projections_;  // two per unit and plane
};

}  // namespace engine::cpu

#include "engine/cpu/projector.h"

#include "engine/numerics/projection.h"

namespace engine::cpu {

Projector::Projector(const Problem& problem, int batch, int threads, double points)
    : problem_(problem),
      n_(problem.template_size),
      scale_(1.0 / points),
      slice_size_(static_cast<size_t>(n_) * (static_cast<size_t>(n_) / 2 + 1)),
      box_size_(static_cast<size_t>(n_) * static_cast<size_t>(n_)),
      plan_(n_),
      slices_(static_cast<size_t>(batch) * slice_size_),
      projections_(static_cast<size_t>(batch) * static_cast<size_t>(problem.planes()) * 2 *
                   box_size_) {
  for (int i = 0; i < threads; ++i) {
    scratch_.push_back({AlignedArray<Complex>(slice_size_), AlignedArray<float>(box_size_),
                        std::vector<Complex>()});
  }
}

void Projector::project(std::span<const Unit> units, ThreadTeam& team) {
  team.run(units.size(), [&](size_t u, int thread) {
    const Orientation& o = problem_.orientations[static_cast<size_t>(units[u].first)];
    Complex* slice = slices_.data() + u * slice_size_;
    extract_slice(problem_.volume_spectrum.data(), n_, rotation_matrix(o), slice,
                  problem_.magnified);
    if (problem_.magnified) {
      magnify_slice(problem_.magnification, n_, slice,
                    scratch_[static_cast<size_t>(thread)].magnified);
    }
  });
  const auto planes = static_cast<size_t>(problem_.planes());
  team.run(units.size() * planes, [&](size_t slot, int thread) {
    const size_t u = slot / planes;
    const size_t plane = slot % planes;
    const bool paired = units[u].second >= 0;
    // The mirrored projection of a pair lies behind its own; of a single orientation, an odd
    // plane's lies behind that of the plane before it, with which it shares a transform.
    const size_t behind = paired ? 0 : plane % 2;
    project_one(slices_.data() + u * slice_size_, static_cast<int>(plane), paired,
                projections_.data() + (2 * (slot - behind) + behind) * box_size_,
                scratch_[static_cast<size_t>(thread)]);
  });
}

void Projector::project_one(const Complex* slice, int plane, bool paired, float* out,
                            Scratch& scratch) const {
  const std::vector<Complex>& filter = problem_.filters[static_cast<size_t>(plane)];
  for (size_t i = 0; i < slice_size_; ++i) scratch.half_plane[i] = slice[i] * filter[i];
  plan_.execute(scratch.half_plane.data(), scratch.back_transform.data());
  centre_projection(scratch.back_transform.data(), n_, out);
  if (paired) {
    float* mirrored = out + box_size_;
    mirror_projection(out, n_, mirrored);
    normalise_projection(mirrored, n_, problem_.height, problem_.width, scale_);
  }
  normalise_projection(out, n_, problem_.height, problem_.width, scale_);
}

}  // namespace engine::cpu

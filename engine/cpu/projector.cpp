#include "engine/cpu/projector.h"

#include <utility>

#include "engine/numerics/projection.h"

namespace engine::cpu {

Projector::Projector(const Problem& problem, int batch, int threads, double points,
                     std::unique_ptr<BackTransform> back_transform)
    : problem_(problem),
      n_(problem.template_size),
      scale_(1.0 / points),
      slice_size_(static_cast<size_t>(n_) * (static_cast<size_t>(n_) / 2 + 1)),
      box_size_(static_cast<size_t>(n_) * static_cast<size_t>(n_)),
      back_transform_(std::move(back_transform)),
      magnified_(static_cast<size_t>(threads)),
      slices_(static_cast<size_t>(batch) * slice_size_),
      projections_(static_cast<size_t>(batch) * static_cast<size_t>(problem.planes()) * 2 *
                   box_size_) {}

void Projector::project(std::span<const Unit> units, ThreadTeam& team) {
  team.run(units.size(), [&](size_t u, int thread) {
    const Orientation& o = problem_.orientations[static_cast<size_t>(units[u].first)];
    Complex* slice = slices_.data() + u * slice_size_;
    extract_slice(problem_.volume_spectrum.data(), n_, rotation_matrix(o), slice,
                  problem_.magnified);
    if (problem_.magnified) {
      magnify_slice(problem_.magnification, n_, slice, magnified_[static_cast<size_t>(thread)]);
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
                projections_.data() + (2 * (slot - behind) + behind) * box_size_, thread);
  });
}

void Projector::project_one(const Complex* slice, int plane, bool paired, float* out, int thread) {
  back_transform_->compute(slice, problem_.filters[static_cast<size_t>(plane)].data(), out, thread);
  if (paired) {
    float* mirrored = out + box_size_;
    mirror_projection(out, n_, mirrored);
    normalise_projections(out, mirrored, n_, problem_.height, problem_.width, scale_);
  } else {
    normalise_projection(out, n_, problem_.height, problem_.width, scale_);
  }
}

}  // namespace engine::cpu

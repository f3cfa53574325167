#include "engine/cpu/projector.h"

#include <algorithm>
#include <utility>

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
      projections_(static_cast<size_t>(batch) * static_cast<size_t>(problem.planes()) * box_size_),
      normalisations_(static_cast<size_t>(batch) * static_cast<size_t>(problem.planes())) {}

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
    float* projection = projections_.data() + slot * box_size_;
    const double squares =
        back_transform_->compute(slices_.data() + slot / planes * slice_size_,
                                 problem_.filters[slot % planes].data(), projection, thread);
    normalisations_[slot] =
        normalisations_of(projection, squares, n_, problem_.height, problem_.width, scale_);
  });
}

Projected Projector::first_of(const Transform& t) const {
  const auto slot = static_cast<size_t>(t.a);
  return {projections_.data() + slot * box_size_, false, normalisations_[slot].own};
}

Projected Projector::second_of(const Transform& t) const {
  if (t.b < 0) return {};
  const auto slot = static_cast<size_t>(t.b);
  const Normalisations& normalisations = normalisations_[slot];
  const bool mirrored = t.b == t.a;
  return {projections_.data() + slot * box_size_, mirrored,
          mirrored ? normalisations.mirrored : normalisations.own};
}

void write_normalised_row(const Projected& p, int n, int row, float* out) {
  if (p.pixels == nullptr) {
    std::fill_n(out, n, 0.0f);
    return;
  }
  const int from = p.mirrored ? (n - row) % n : row;
  const float* pixels = p.pixels + static_cast<size_t>(from) * static_cast<size_t>(n);
  std::transform(pixels, pixels + n, out, [&](float pixel) {
    return static_cast<float>((pixel - p.normalisation.edge) * p.normalisation.factor);
  });
  if (p.mirrored) std::reverse(out + 1, out + n);
}

}  // namespace engine::cpu

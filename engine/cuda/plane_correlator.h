// Correlates projections with the whole image by library transforms of rows and columns, for every
// size of image and template. A class with the same functions may take its place (correlator.h).
#pragma once

#include <span>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/transforms.h"
#include "engine/cuda/cuda_memory.h"
#include "engine/cuda/device_concept.h"
#include "engine/cuda/product.cuh"
#include "engine/cuda/statistics.cuh"
#include "engine/cuda/template_rows.cuh"

namespace engine::cuda {

// A pass is laid out [row][transform][column], so that the template's rows, the columns, and the
// rows of the map need one plan each.
struct PlaneLines {
  Lines template_rows, columns, valid_rows;
};

inline PlaneLines plane_lines(const ProblemShape& s, int transforms) {
  const int64_t row = int64_t{s.width} * transforms;
  const int64_t valid_rows = s.height - s.template_size + 1;
  return {.template_rows = {s.width, int64_t{s.template_size} * transforms, 1, s.width},
          .columns = {s.height, row, row, 1},
          .valid_rows = {s.width, valid_rows * transforms, 1, s.width}};
}

// Every plan has a fixed number of lines, so that no result depends on what else is in a pass: a
// pass always has `plan.transforms` transforms, and the last pass of a call is filled up with
// zeros.
template <typename Device>
class PlaneCorrelator {
 public:
  // `device` must outlive the correlator. `most` is the largest number of transforms in one call of
  // add().
  PlaneCorrelator(Device& device, const Problem& p, const MemoryPlan& plan, size_t most)
      : device_(device),
        n_(p.template_size),
        height_(p.height),
        width_(p.width),
        valid_height_(p.valid_height()),
        valid_width_(p.valid_width()),
        per_pass_(plan.transforms),
        image_(device, "the image's spectrum",
               static_cast<size_t>(height_) * static_cast<size_t>(width_)),
        list_(device, "the list of transforms", most + static_cast<size_t>(per_pass_)),
        template_(device, "the template rows", pass_size()),
        correlation_(device, "the correlations", pass_size()),
        template_rows_(device, lines(p, plan).template_rows),
        columns_(device, lines(p, plan).columns),
        valid_rows_(device, lines(p, plan).valid_rows) {
    device.clear(template_);
    // The array of correlations is not used yet and large enough, so it takes the half-plane.
    device.upload(correlation_, reinterpret_cast<const float2*>(p.image_spectrum.data()),
                  p.image_spectrum.size());
    device.launch("expand_spectrum", expand_spectrum, dim3(blocks_for(width_), rows(height_)),
                  dim3(threads_for(width_)), 0, correlation_.data(), height_, width_,
                  image_.data());
  }

  // Adds the correlations of the transforms to `statistics`.
  void add(const Projections& projections, std::span<const Transform> transforms,
           const Statistics& statistics) {
    const auto per_pass = static_cast<size_t>(per_pass_);
    std::vector<Transform> list(transforms.begin(), transforms.end());
    list.resize((list.size() + per_pass - 1) / per_pass * per_pass);
    device_.upload(list_, list.data(), list.size());
    for (size_t first = 0; first < transforms.size(); first += per_pass) {
      const auto used = static_cast<int>(std::min(per_pass, transforms.size() - first));
      correlate(projections, list_.data() + first);
      device_.launch("accumulate", accumulate, dim3(blocks_for(valid_width_), rows(valid_height_)),
                     dim3(threads_for(valid_width_)), 0, correlation_.data(), list_.data() + first,
                     used, per_pass_, width_, valid_width_, statistics);
    }
  }

 private:
  template <typename T>
  using Buffer = typename Device::template Buffer<T>;

  void correlate(const Projections& projections, const Transform* transforms) {
    device_.launch("pack_template_rows", pack_template_rows,
                   dim3(blocks_for(width_), rows(n_), rows(per_pass_)), dim3(threads_for(width_)),
                   0, projections, transforms, width_, template_.data());
    device_.forward(template_rows_, template_.data(), template_.data());
    device_.forward(columns_, template_.data(), correlation_.data());
    device_.launch("multiply_conjugate", multiply_conjugate,
                   dim3(blocks_for(width_), rows(height_)), dim3(kBlockThreads), 0, image_.data(),
                   width_, per_pass_, correlation_.data());
    device_.inverse(columns_, correlation_.data(), correlation_.data());
    device_.inverse(valid_rows_, correlation_.data(), correlation_.data());
  }

  static PlaneLines lines(const Problem& p, const MemoryPlan& plan) {
    return plane_lines({p.height, p.width, p.template_size}, plan.transforms);
  }
  size_t pass_size() const {
    return static_cast<size_t>(height_) * static_cast<size_t>(width_) *
           static_cast<size_t>(per_pass_);
  }
  unsigned rows(int count) const { return static_cast<unsigned>(count); }

  Device& device_;
  const int n_, height_, width_, valid_height_, valid_width_, per_pass_;
  Buffer<float2> image_;        // spectrum, [row][column]
  Buffer<Transform> list_;      // filled up to whole passes
  Buffer<float2> template_;     // rows from n_ on stay zero
  Buffer<float2> correlation_;  // of the shape of template_
  typename Device::LinePlan template_rows_, columns_, valid_rows_;
};

}  // namespace engine::cuda

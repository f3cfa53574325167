// Makes the projections of a batch of units on a device: slice, magnification, filter,
// back-transform, and the scales that normalise them.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/cuda/cuda_memory.h"
#include "engine/cuda/device_concept.h"
#include "engine/cuda/slices.cuh"
#include "engine/cuda/template_rows.cuh"

namespace engine::cuda {

// Returns the units' rotation matrices, nine numbers each; small elements are set to 0 as in
// extract_slice().
inline std::vector<double> slice_rotations(std::span<const Unit> units,
                                           const std::vector<Orientation>& orientations) {
  std::vector<double> out;
  out.reserve(9 * units.size());
  for (const Unit& unit : units) {
    const Orientation& o = orientations[static_cast<size_t>(unit.first)];
    for (const double element : rotation_matrix(o)) {
      out.push_back(std::abs(element) < 1e-8 ? 0.0 : element);
    }
  }
  return out;
}

template <typename Device>
class Projector {
 public:
  // `p` and `device` must outlive the projector.
  Projector(Device& device, const Problem& p, const MemoryPlan& plan)
      : device_(device),
        problem_(p),
        n_(p.template_size),
        planes_(p.planes()),
        slice_size_(static_cast<int64_t>(slice(p))),
        per_plan_(plan.projections),
        volume_(device, "the template's spectrum", p.volume_spectrum.size()),
        filters_(device, "the filters", static_cast<size_t>(planes_) * slice(p)),
        rotations_(device, "the rotations", 9 * static_cast<size_t>(plan.batch)),
        slices_(device, "the slices", static_cast<size_t>(plan.batch) * slice(p)),
        half_planes_(device, "the filtered slices", slots(p, plan) * slice(p)),
        back_transforms_(device, "the projections",
                         slots(p, plan) * static_cast<size_t>(n_) * static_cast<size_t>(n_)),
        scales_(device, "the projections' scales", slots(p, plan)),
        plan_(device, Planes{n_, per_plan_}) {
    const double pixels = static_cast<double>(p.height) * p.width;
    // The transforms are not normalised: 1/pixels is applied here, once per projection.
    area_ = {pixels, static_cast<double>(p.height - n_) * (p.width - n_), 1.0 / pixels};
    const FrequencyTransform& t = p.magnification;
    magnification_ = {t.yy, t.yx, t.xy, t.xx, static_cast<float>(1.0 / t.determinant)};
    device.upload(volume_, reinterpret_cast<const float2*>(p.volume_spectrum.data()),
                  p.volume_spectrum.size());
    std::vector<std::complex<float>> filters;
    for (const auto& filter : p.filters)
      filters.insert(filters.end(), filter.begin(), filter.end());
    device.upload(filters_, reinterpret_cast<const float2*>(filters.data()), filters.size());
  }

  // Makes projection u x planes + d from unit u and plane d, for at most as many units as the
  // plan's batch. The projections of an earlier call are overwritten.
  Projections project(std::span<const Unit> units) {
    extract(units);
    const int used = static_cast<int>(units.size()) * planes_;
    back_transform(used);
    constexpr int kThreads = kBlockThreads;
    device_.launch("measure_projections", measure_projections<kThreads>,
                   dim3(static_cast<unsigned>(used)), dim3(kThreads), 4 * kThreads * sizeof(double),
                   back_transforms_.data(), n_, area_, scales_.data());
    return {back_transforms_.data(), scales_.data(), n_};
  }

 private:
  template <typename T>
  using Buffer = typename Device::template Buffer<T>;

  static size_t slots(const Problem& p, const MemoryPlan& plan) {
    return static_cast<size_t>(projection_slots({.planes = p.planes()}, plan));
  }
  static size_t slice(const Problem& p) {
    return static_cast<size_t>(p.template_size) * (static_cast<size_t>(p.template_size) / 2 + 1);
  }
  void extract(std::span<const Unit> units) {
    const std::vector<double> rotations = slice_rotations(units, problem_.orientations);
    device_.upload(rotations_, rotations.data(), rotations.size());
    const dim3 grid(blocks_for(slice_size_), static_cast<unsigned>(units.size()));
    // The array of filtered slices is not used yet, so it takes the slices to be magnified.
    float2* out = problem_.magnified ? half_planes_.data() : slices_.data();
    device_.launch("extract_slices", extract_slices, grid, dim3(threads_for(slice_size_)), 0,
                   volume_.data(), n_, rotations_.data(), problem_.magnified, out);
    if (problem_.magnified) {
      device_.launch("magnify_slices", magnify_slices, grid, dim3(threads_for(slice_size_)), 0,
                     half_planes_.data(), n_, magnification_, slices_.data());
    }
  }

  void back_transform(int used) {
    const int slots = (used + per_plan_ - 1) / per_plan_ * per_plan_;
    device_.launch("filter_slices", filter_slices,
                   dim3(blocks_for(slice_size_), static_cast<unsigned>(slots)),
                   dim3(threads_for(slice_size_)), 0, slices_.data(), filters_.data(), n_, planes_,
                   used, half_planes_.data());
    for (int slot = 0; slot < slots; slot += per_plan_) {
      device_.back_transform(plan_, half_planes_.data() + slot * slice_size_,
                             back_transforms_.data() + static_cast<int64_t>(slot) * n_ * n_);
    }
  }

  Device& device_;
  const Problem& problem_;
  const int n_, planes_;
  const int64_t slice_size_;
  const int per_plan_;  // back-transforms
  ImageArea area_;
  Magnification magnification_;
  Buffer<float2> volume_, filters_;
  Buffer<double> rotations_;       // per unit
  Buffer<float2> slices_;          // per unit
  Buffer<float2> half_planes_;     // per projection
  Buffer<float> back_transforms_;  // per projection
  Buffer<ProjectionScale> scales_;
  typename Device::PlanePlan plan_;
};

}  // namespace engine::cuda

#include "engine/cpu/back_transform.h"

#include <cstddef>
#include <functional>
#include <numeric>
#include <vector>

#include "engine/numerics/projection.h"

namespace engine::cpu {
namespace {

class PlainBackTransform : public BackTransform {
 public:
  PlainBackTransform(int n, int threads)
      : n_(n), slice_size_(static_cast<size_t>(n) * (static_cast<size_t>(n) / 2 + 1)), plan_(n) {
    const size_t box_size = static_cast<size_t>(n) * static_cast<size_t>(n);
    for (int i = 0; i < threads; ++i) {
      scratch_.push_back({AlignedArray<Complex>(slice_size_), AlignedArray<float>(box_size)});
    }
  }

  double compute(const Complex* slice, const Complex* filter, float* projection,
                 int thread) override {
    Scratch& scratch = scratch_[static_cast<size_t>(thread)];
    for (size_t i = 0; i < slice_size_; ++i) scratch.half_plane[i] = slice[i] * filter[i];
    plan_.execute(scratch.half_plane.data(), scratch.back_transform.data());
    centre_projection(scratch.back_transform.data(), n_, projection);
    return sum_of_squares(projection, n_);
  }

 private:
  struct Scratch {
    AlignedArray<Complex> half_plane;    // n x (n/2+1)
    AlignedArray<float> back_transform;  // n x n
  };
  const int n_;
  const size_t slice_size_;  // n x (n/2+1)
  const ProjectionPlan plan_;
  std::vector<Scratch> scratch_;
};

}  // namespace

double sum_of_squares(const float* projection, int n) {
  const size_t pixels = static_cast<size_t>(n) * static_cast<size_t>(n);
  return std::transform_reduce(projection, projection + pixels, 0.0, std::plus(),
                               [](double pixel) { return pixel * pixel; });
}

std::unique_ptr<BackTransform> make_plain_back_transform(int n, int threads) {
  return std::make_unique<PlainBackTransform>(n, threads);
}

}  // namespace engine::cpu

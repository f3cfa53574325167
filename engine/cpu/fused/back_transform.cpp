#include "engine/cpu/fused/back_transform.h"

#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "engine/cpu/fused/kernels.h"
#include "engine/cpu/fused/large_array.h"
#include "engine/cpu/fused/lengths.h"
#include "engine/cpu/fused/line.h"

namespace engine::cpu::fused {
namespace {

// The smallest sum in which squares that a float loses do not count.
constexpr double kLeastSquares = 1e-20;

class FusedBackTransform : public BackTransform {
 public:
  FusedBackTransform(int n, int threads)
      : kernels_(choose_kernels()), line_(n), points_(line_.length) {
    for (size_t position = 0; position < line_.length; ++position) {
      points_[static_cast<size_t>(line_.frequencies[position])] = position + position / line_.part;
    }
    const size_t lanes = kernels_.lanes;
    for (int i = 0; i < threads; ++i) {
      scratch_.push_back({LargeArray<float>((line_.working() + line_.length) * 2 * lanes),
                          LargeArray<float>(projection_floats(line_.length, lanes)),
                          LargeArray<float>(line_.length + lanes)});
    }
  }

  double compute(const Complex* slice, const Complex* filter, float* projection,
                 int thread) override {
    Scratch& scratch = scratch_[static_cast<size_t>(thread)];
    kernels_.projection(line_,
                        {.slice = reinterpret_cast<const float*>(slice),
                         .filter = reinterpret_cast<const float*>(filter),
                         .size = line_.length,
                         .points = points_.data(),
                         .between = scratch.between.data(),
                         .out = projection,
                         .squares = scratch.squares.data()},
                        scratch.working.data());
    const double squares =
        std::accumulate(scratch.squares.data(), scratch.squares.data() + line_.length, 0.0);
    // A very faint or strong template has squares that a float cannot hold.
    const bool is_in_range = squares > kLeastSquares && std::isfinite(squares);
    return is_in_range ? squares : sum_of_squares(projection, static_cast<int>(line_.length));
  }

 private:
  struct Scratch {
    LargeArray<float> working;
    LargeArray<float> between;
    LargeArray<float> squares;
  };
  const Kernels& kernels_;
  const Line line_;
  std::vector<size_t> points_;  // of working memory, for each frequency
  std::vector<Scratch> scratch_;
};

}  // namespace

std::unique_ptr<BackTransform> make_back_transform(int n, int threads) {
  if (factors_of(n).empty()) return make_plain_back_transform(n, threads);
  return std::make_unique<FusedBackTransform>(n, threads);
}

}  // namespace engine::cpu::fused

// What reduced precision costs a search: measured as a match measures it, and seen in the peaks of
// a micrograph with known particles.
#pragma once

#include <atomic>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "engine/backend/precision_error.h"
#include "engine/cuda/fused/instantiate.h"
#include "engine/numerics/peaks.h"
#include "engine/numerics/simulate.h"
#include "tests/unit/engine/cuda/fused/fused_searches.h"

namespace tests {

// A search that finds its particles.
inline engine::Search planted_search(int height, int width, int n, int particles) {
  const SearchCase c{.name = "planted", .height = height, .width = width, .n = n};
  const engine::SearchConfig config = config_of(c);
  const engine::Simulation made = engine::simulate(
      blobs(n), config.optics,
      {.height = height, .width = width, .particles = particles, .seed = 5, .z = 20});
  return engine::prepare_search(config, made.micrograph, blobs(n));
}

inline std::vector<engine::Peak> peaks_of(engine::Backend& backend, const engine::Search& search) {
  const engine::Maps maps = engine::finalise(run_on(backend, search),
                                             search.space.list.orientations, search.space.planes);
  return engine::find_peaks(
      maps, {.metric = engine::PeakMetric::kMip, .false_positives = 1e-3, .mask_radius = 16.0});
}

// What is wrong with peaks that should be `expected`, or nothing.
inline std::string fault_of_peaks(const std::vector<engine::Peak>& found,
                                  const std::vector<engine::Peak>& expected) {
  if (found.size() != expected.size()) {
    return std::to_string(found.size()) + " peaks in place of " + std::to_string(expected.size());
  }
  for (size_t i = 0; i < found.size(); ++i) {
    const engine::Peak& a = found[i];
    const engine::Peak& b = expected[i];
    if (a.x != b.x || a.y != b.y) return "peak " + std::to_string(i) + " is elsewhere";
    if (a.phi != b.phi || a.theta != b.theta || a.psi != b.psi) {
      return "peak " + std::to_string(i) + " is turned otherwise";
    }
    const float difference = std::abs(a.scaled_mip - b.scaled_mip);
    if (!(difference < 0.02f)) return "z differs by " + std::to_string(difference);
  }
  return "";
}

template <typename Maker>
class CudaPrecision : public OnDevice<Maker> {
 protected:
  template <typename Storage>
  static std::unique_ptr<engine::Backend> backend(const engine::Search& search, int batch,
                                                  engine::Precision precision) {
    using Path = Fused<Storage, 64>;
    using FusedBackend = cuda::DeviceBackend<typename Maker::Device, Path::template Correlator>;
    const cuda::FusedKernels kernels =
        cuda::fused_kernels_of<Storage, cuda::LengthList<64>>(precision);
    return std::make_unique<FusedBackend>(
        Maker::make(), search.problem,
        cuda::plan_fused_memory(shape_of(search.problem), kernels, std::vector<int>{64}, batch));
  }
};

TYPED_TEST_SUITE_P(CudaPrecision);

TYPED_TEST_P(CudaPrecision, IsMeasuredOnTheSearchItselfAndLeavesNoTraceInIt) {
  const engine::Search search =
      search_of({.name = "", .height = 70, .width = 66, .n = 16, .planes = 2});
  const std::vector<engine::Unit> sample = engine::sample_units(search.space.units, 6);
  const auto single =
      this->template backend<cuda::SingleStorage>(search, 4, engine::Precision::kFp32);
  const engine::Accumulators exact = engine::accumulate_sample(*single, sample);
  const auto halves =
      this->template backend<cuda::HalfArithmetic>(search, 4, engine::Precision::kFp16);
  const engine::Accumulators reduced = engine::accumulate_sample(*halves, sample);
  const engine::PrecisionError error = engine::precision_error(exact, reduced, 6);
  EXPECT_GT(error.rms, 1e-6);
  EXPECT_LT(error.rms, 5e-3);
  EXPECT_GE(error.largest, error.rms);
  EXPECT_LT(error.largest, 5e-2);
  EXPECT_EQ(halves->precision(), "fp16");
  EXPECT_TRUE(same_bits(engine::accumulate_sample(*halves, sample), reduced));
}

TYPED_TEST_P(CudaPrecision, OfHalvesFindsTheSamePeaks) {
  const engine::Search search = planted_search(80, 96, 16, 2);
  const auto cpu = engine::cpu::make_cpu_backend(
      search.problem, engine::cpu::plan_memory(shape_of(search.problem), {.threads = 1}));
  const std::vector<engine::Peak> expected = peaks_of(*cpu, search);
  EXPECT_GE(expected.size(), 2u) << "nothing to compare";
  const auto arithmetic =
      this->template backend<cuda::HalfArithmetic>(search, 0, engine::Precision::kFp16);
  EXPECT_EQ(fault_of_peaks(peaks_of(*arithmetic, search), expected), "");
}

REGISTER_TYPED_TEST_SUITE_P(CudaPrecision, IsMeasuredOnTheSearchItselfAndLeavesNoTraceInIt,
                            OfHalvesFindsTheSamePeaks);

}  // namespace tests

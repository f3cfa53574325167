// What Leopard-EM found, on a real device by both paths in single precision.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "engine/cuda/cuda_backend.h"
#include "engine/error.h"
#include "engine/peaks.h"
#include "tests/require.h"
#include "tests/unit/engine/reference_cases.h"

namespace tests {
namespace {

class CudaReference : public testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  void SetUp() override {
    try {
      engine::cuda::require_device(0);
    } catch (const engine::Error& error) {
      MARGAY_SKIP_FOR_WANT_OF("gpu", error.what());
    }
  }
};

TEST_P(CudaReference, LeopardEmAgreesOnItsWindow) {
  const auto& [fft, name] = GetParam();
  expect_window_of_leopard_em(name, {.backend = "cuda", .fft = fft});
}

INSTANTIATE_TEST_SUITE_P(OnAGpu, CudaReference,
                         testing::Combine(testing::Values("cufft", "fused"),
                                          testing::ValuesIn(kReferenceCases)),
                         [](const auto& one) {
                           return std::string(std::get<0>(one.param)) + "_" +
                                  std::get<1>(one.param);
                         });

class CudaPeaks : public CudaReference {};

TEST_P(CudaPeaks, AreThoseOfLeopardEm) {
  const auto& [fft, name] = GetParam();
  const engine::Maps maps =
      search_reference_case(name, MARGAY_TEST_DATA, {.backend = "cuda", .fft = fft});
  const std::vector<Particle> wanted = read_peak_list(reference_path(name, "peaks.csv"));
  std::vector<Particle> found;
  for (const engine::Peak& peak : engine::find_peaks(maps, {})) {
    found.push_back(particle_of(peak, 128));
  }
  EXPECT_GT(wanted.size(), 0u);
  EXPECT_EQ(found.size(), wanted.size());
  for (const Particle& theirs : wanted) {
    const auto ours = nearest(found, theirs, 1.0);
    ASSERT_TRUE(ours) << "no peak at " << theirs.x << ", " << theirs.y;
    EXPECT_LT(pose_distance(*ours, theirs), 1e-2);
    EXPECT_EQ(ours->relative_defocus, theirs.relative_defocus);
    EXPECT_NEAR(ours->z, theirs.z, 0.02);
  }
}

INSTANTIATE_TEST_SUITE_P(OnAGpu, CudaPeaks,
                         testing::Combine(testing::Values("cufft", "fused"),
                                          testing::Values("unit_peaks", "lsu512")),
                         [](const auto& one) {
                           return std::string(std::get<0>(one.param)) + "_" +
                                  std::get<1>(one.param);
                         });

}  // namespace
}  // namespace tests

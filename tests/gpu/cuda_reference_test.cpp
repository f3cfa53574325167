// What Leopard-EM found, on a real device by both paths in single precision.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "engine/cuda/cuda_backend.h"
#include "engine/error.h"
#include "tests/require.h"
#include "tests/unit/engine/search/reference_cases.h"

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
  expect_same_peaks(particles_of(maps), read_peak_list(reference_path(name, "peaks.csv")));
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

#include "engine/numerics/peaks.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "engine/error.h"
#include "engine/results/results.h"
#include "tests/unit/engine/scratch.h"
#include "tests/unit/engine/search/reference_csv.h"

namespace engine {
namespace {

Maps flat_maps(int height, int width) {
  const Image zero(height, width);
  return {.height = height,
          .width = width,
          .mip = zero,
          .scaled_mip = zero,
          .mean = zero,
          .sd = zero,
          .psi = zero,
          .theta = zero,
          .phi = zero,
          .relative_defocus = zero,
          .total_orientations = 100,
          .total_defocus = 10,
          .total_correlations = 1000};
}

std::vector<std::pair<int, int>> rows_and_columns(const std::vector<Peak>& peaks) {
  std::vector<std::pair<int, int>> places;
  for (const Peak& peak : peaks) places.emplace_back(peak.y, peak.x);
  return places;
}

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(NoiseCutoff, AgreesWithPublishedValues) {
  EXPECT_NEAR(noise_cutoff(3585.0 * 3585.0, 20598240.0, 1.0), 7.7748, 5e-5);
  EXPECT_NEAR(noise_cutoff(3585.0 * 3585.0, 17.43e6, 1.0), 7.7537, 5e-5);
  EXPECT_NEAR(noise_cutoff(3585.0 * 3585.0, 1584480.0, 1.0), 7.4433, 5e-5);
}

TEST(NoiseCutoff, LeavesTheAskedNumberOfFalsePositivesAboveIt) {
  for (const double false_positives : {1e-9, 1e-3, 0.5, 1.0, 20.0, 1e6, 4.9e8, 5.1e8, 9e8}) {
    const double z = noise_cutoff(1e6, 1e3, false_positives);
    const double tail = 0.5 * std::erfc(z / std::numbers::sqrt2);
    EXPECT_NEAR(tail * 1e9 / false_positives, 1.0, 1e-12 * std::max(1.0, z * z));
  }
}

TEST(NoiseCutoff, IsExactFarOut) {
  // Tails by 50-digit arithmetic: erfc(10) = 2.0884875837625447570e-45,
  // erfc(26) = 5.6631924088561428464e-296.
  EXPECT_NEAR(noise_cutoff(1, 2, 2.0884875837625447570e-45) / std::numbers::sqrt2, 10.0, 1e-12);
  EXPECT_NEAR(noise_cutoff(1, 2, 5.6631924088561428464e-296) / std::numbers::sqrt2, 26.0, 1e-12);
}

TEST(NoiseCutoff, RefusesFalsePositivesThatCannotBe) {
  for (const double wrong : {0.0, -1.0, 1e9, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THAT(refusal([&] { noise_cutoff(1e6, 1e3, wrong); }), HasSubstr("--false-positives"));
  }
}

TEST(PeakOptionsOf, AnOptionCountsBeforeTheConfigurationAndThatBeforeTheDefaults) {
  SearchConfig config;
  config.optics.pixel_size = 2.0;
  EXPECT_EQ(peak_options({}, config).metric, PeakMetric::kScaledMip);
  EXPECT_EQ(peak_options({}, config).false_positives, 1.0);
  EXPECT_EQ(peak_options({}, config).mask_radius, 5.0);
  config.peaks = {.metric = "mip", .false_positives = 0.5, .particle_radius = 120.0};
  EXPECT_EQ(peak_options({}, config).metric, PeakMetric::kMip);
  EXPECT_EQ(peak_options({}, config).false_positives, 0.5);
  EXPECT_EQ(peak_options({}, config).mask_radius, 60.0);
  const PeakOptions asked = peak_options(
      {.metric = PeakMetric::kScaledMip, .false_positives = 2.0, .cutoff = 7.5, .mask_radius = 8.0},
      config);
  EXPECT_EQ(asked.metric, PeakMetric::kScaledMip);
  EXPECT_EQ(asked.false_positives, 2.0);
  EXPECT_EQ(asked.cutoff, 7.5);
  EXPECT_EQ(asked.mask_radius, 8.0);
}

TEST(FindPeaks, FindsThePeaksOfTheReferenceMaps) {
  const std::string folder = std::string(MARGAY_TEST_DATA) + "/leopard-em/unit_peaks/";
  const std::string csv = read_file(folder + "peaks.csv");
  const ResultPaths paths = {.mip = folder + "mip.mrc",
                             .scaled_mip = folder + "scaled_mip.mrc",
                             .correlation_average = folder + "mean.mrc",
                             .correlation_variance = folder + "sd.mrc",
                             .orientation_psi = folder + "psi.mrc",
                             .orientation_theta = folder + "theta.mrc",
                             .orientation_phi = folder + "phi.mrc",
                             .relative_defocus = folder + "defocus.mrc"};
  Maps maps = read_maps(paths);
  maps.total_correlations = correlations_of_csv(csv);

  const std::vector<Peak> found = find_peaks(maps, {});

  const std::vector<Peak> expected = peaks_of_csv(csv);
  ASSERT_EQ(found.size(), 3u);
  ASSERT_EQ(expected.size(), 3u);
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].x, expected[i].x);
    EXPECT_EQ(found[i].y, expected[i].y);
    EXPECT_EQ(found[i].mip, expected[i].mip);
    EXPECT_EQ(found[i].scaled_mip, expected[i].scaled_mip);
    EXPECT_EQ(found[i].mean, expected[i].mean);
    EXPECT_EQ(found[i].sd, expected[i].sd);
    EXPECT_EQ(found[i].phi, expected[i].phi);
    EXPECT_EQ(found[i].theta, expected[i].theta);
    EXPECT_EQ(found[i].psi, expected[i].psi);
    EXPECT_EQ(found[i].relative_defocus, expected[i].relative_defocus);
  }
}

TEST(FindPeaks, AValueAtTheCutOffIsNoPeak) {
  Maps maps = flat_maps(20, 20);
  maps.scaled_mip.at(3, 4) = 7.0f;
  EXPECT_THAT(find_peaks(maps, {.cutoff = 7.0}), IsEmpty());
  EXPECT_THAT(rows_and_columns(find_peaks(maps, {.cutoff = 6.9999})), ElementsAre(Pair(3, 4)));
}

TEST(FindPeaks, TheBestComesFirstAndHidesNeighboursNearerThanTheMask) {
  Maps maps = flat_maps(40, 40);
  maps.scaled_mip.at(10, 10) = 9.0f;
  maps.scaled_mip.at(13, 13) = 8.5f;  // 4.2 pixels away
  maps.scaled_mip.at(10, 15) = 8.0f;  // 5: not nearer
  maps.scaled_mip.at(30, 30) = 12.0f;
  EXPECT_THAT(rows_and_columns(find_peaks(maps, {.cutoff = 7.0})),
              ElementsAre(Pair(30, 30), Pair(10, 10), Pair(10, 15)));
}

TEST(FindPeaks, AHiddenNeighbourHidesNobody) {
  Maps maps = flat_maps(40, 40);
  maps.scaled_mip.at(10, 10) = 9.0f;
  maps.scaled_mip.at(10, 14) = 8.5f;
  maps.scaled_mip.at(10, 18) = 8.0f;
  EXPECT_THAT(rows_and_columns(find_peaks(maps, {.cutoff = 7.0})),
              ElementsAre(Pair(10, 10), Pair(10, 18)));
}

TEST(FindPeaks, AmongEqualsTheLowerRowThenTheLowerColumnWins) {
  Maps maps = flat_maps(40, 40);
  for (const auto& [row, column] : {std::pair{20, 20}, {20, 17}, {18, 30}, {18, 33}}) {
    maps.scaled_mip.at(row, column) = 8.0f;
  }
  EXPECT_THAT(rows_and_columns(find_peaks(maps, {.cutoff = 7.0})),
              ElementsAre(Pair(18, 30), Pair(20, 17)));
}

TEST(FindPeaks, TheMipCanBeTheMetric) {
  Maps maps = flat_maps(20, 20);
  maps.scaled_mip.at(1, 1) = 20.0f;
  maps.mip.at(5, 6) = 9.0f;
  EXPECT_THAT(rows_and_columns(find_peaks(maps, {.metric = PeakMetric::kMip, .cutoff = 7.0})),
              ElementsAre(Pair(5, 6)));
}

TEST(FindPeaks, AgreesWithComparingEveryPairWhenEveryPixelIsACandidate) {
  Maps maps = flat_maps(90, 70);
  uint32_t state = 1;
  for (float& value : maps.scaled_mip.pixels) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 20);
  }
  for (const double radius : {0.0, 1.0, 1.5, 5.0, 11.3, 500.0}) {
    const std::vector<Peak> peaks = find_peaks(maps, {.cutoff = -1.0, .mask_radius = radius});
    // Every two are far enough apart, and every pixel left out has a better one near it.
    const auto near = [&](const Peak& peak, int row, int column) {
      return std::hypot(peak.y - row, peak.x - column) < radius;
    };
    Image covered(90, 70);
    for (size_t i = 0; i < peaks.size(); ++i) {
      EXPECT_EQ(covered.at(peaks[i].y, peaks[i].x), 0.0f) << radius;
      EXPECT_LE(peaks[i].scaled_mip, peaks[i == 0 ? 0 : i - 1].scaled_mip);
      for (int row = 0; row < 90; ++row) {
        for (int column = 0; column < 70; ++column) {
          if (near(peaks[i], row, column)) covered.at(row, column) = 1.0f;
        }
      }
      covered.at(peaks[i].y, peaks[i].x) = 1.0f;
    }
    EXPECT_THAT(covered.pixels, ::testing::Each(1.0f)) << radius;
  }
}

TEST(FindPeaks, PixelsThatAreNoNumberAreNoPeaks) {
  Maps maps = flat_maps(10, 10);
  maps.scaled_mip.at(2, 2) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(find_peaks(maps, {.cutoff = 5.0}), IsEmpty());
  EXPECT_THAT(refusal([&] { find_peaks(maps, {.cutoff = std::nan("")}); }), HasSubstr("cut-off"));
}

}  // namespace
}  // namespace engine

// The two whole searches that Leopard-EM and cisTEM ran: maps, peak lists and planted particles.
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>

#include "engine/config/config.h"
#include "engine/numerics/fft.h"
#include "tests/reference.h"
#include "tests/require.h"
#include "tests/run_search.h"
#include "tests/unit/engine/search/reference_cases.h"

namespace tests {
namespace {

std::string data_path(const std::string& file) {
  return std::string(MARGAY_TEST_DATA) + "/" + file;
}

// z of each planted particle as cisTEM found it, by id.
std::vector<double> cistem_scores(const std::string& name) {
  std::ifstream file(data_path("cistem/" + name + "_found.csv"));
  std::vector<double> scores;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) scores.push_back(std::stod(line.substr(line.find(',') + 1)));
  return scores;
}

// Every particle that cisTEM finds, with at least 0.95 of its score.
void expect_what_cistem_finds(const std::vector<Particle>& found, const std::string& name) {
  const std::vector<Particle> truth = read_truth(data_path(name + "_truth.csv"));
  const std::vector<double> scores = cistem_scores(name);
  ASSERT_EQ(scores.size(), truth.size());
  for (size_t id = 0; id < truth.size(); ++id) {
    const auto ours = nearest(found, truth[id], 1.0);
    ASSERT_TRUE(ours) << "particle " << id << " is missed";
    std::cout << name << " particle " << id << ": z " << ours->z << ", cisTEM's " << scores[id]
              << ", off " << distance(*ours, truth[id]) << " px\n";
    EXPECT_GE(ours->z, 0.95 * scores[id]) << "particle " << id;
  }
}

void expect_maps(const engine::Maps& maps, const std::string& folder, const std::string& name) {
  const engine::Maps reference = read_whole_maps(folder + "/leopard-em/" + name);
  const Agreement found = compare(maps, reference);
  std::cout << name << ", every pixel: " << describe(found) << "\n";
  EXPECT_LE(found.mean, 2e-3);
  EXPECT_LE(found.sd, 2e-3);
  EXPECT_GT(found.same_pose, 0.995);
  // As for the short cases whose grids have axis-degenerate orientations.
  EXPECT_LE(found.mip, 0.02);
  constexpr int kTemplateSize = 128;
  const MapsPair regular = at_regular_poses(maps, reference, kTemplateSize);
  const Agreement agreement = compare(regular.ours, regular.reference);
  const double kept =
      static_cast<double>(regular.ours.width) / static_cast<double>(reference.mip.pixels.size());
  std::cout << name << ", " << 100 * kept
            << " % of pixels, at regular poses: " << describe(agreement) << "\n";
  EXPECT_GT(kept, 0.98);
  EXPECT_LE(agreement.mip, 2e-3);
  EXPECT_GT(agreement.same_pose, 0.999);
}

class WholeSearch : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (device_.fft == engine::kFftw && engine::fft_library().name != engine::kFftw) {
      MARGAY_SKIP_FOR_WANT_OF("fftw", "this build has no FFTW");
    }
  }

  const engine::DeviceOptions device_{.backend = "cpu", .fft = GetParam()};
};
INSTANTIATE_TEST_SUITE_P(By, WholeSearch, testing::Values("fused", "fftw"),
                         [](const auto& path) { return std::string(path.param); });

TEST_P(WholeSearch, OfTheLargeSubunitGivesLeopardEmsPeaks) {
  const std::string name = "lsu512";
  const engine::Maps maps = search_reference_case(name, MARGAY_TEST_DATA, device_);
  EXPECT_EQ(maps.total_correlations, 991'200);
  const std::vector<Particle> found = particles_of(maps);
  expect_same_peaks(found, read_peak_list(reference_path(name, "peaks.csv")));
  expect_what_cistem_finds(found, name);
  const auto folder = whole_reference();
  if (folder) {
    expect_maps(maps, *folder, name);
  } else {
    std::cout << "maps not compared: MARGAY_REFERENCE is not set\n";
    EXPECT_FALSE(is_required("reference"));
  }
}

TEST_P(WholeSearch, OfApoferritinGivesLeopardEmsMapsAndPeaks) {
  const std::string name = "apo512";
  const auto folder = whole_reference();
  if (!folder) {
    MARGAY_SKIP_FOR_WANT_OF("reference",
                            "set MARGAY_REFERENCE to the folder with apo512's micrograph and maps");
  }
  const engine::Maps maps = search_reference_case(name, *folder, device_);
  EXPECT_EQ(maps.total_correlations, 331'200);
  const std::vector<Particle> found = particles_of(maps);
  expect_same_peaks(found, read_peak_list(reference_path(name, "peaks.csv")));
  expect_what_cistem_finds(found, name);
  expect_maps(maps, *folder, name);
}

}  // namespace
}  // namespace tests

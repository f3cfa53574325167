// Every short case that Leopard-EM 1.2 ran, run by ours and compared: on the window that the
// project carries, and whole where MARGAY_REFERENCE names the folder of all maps.
#include <gtest/gtest.h>

#include "engine/config/config.h"
#include "engine/numerics/peaks.h"
#include "tests/require.h"
#include "tests/run_search.h"
#include "tests/unit/engine/search/reference_cases.h"

namespace tests {
namespace {

class ReferenceCaseOf : public testing::TestWithParam<const char*> {};

TEST_P(ReferenceCaseOf, LeopardEmAgreesOnItsWindow) {
  expect_window_of_leopard_em(GetParam(), {.backend = "cpu"});
}

TEST_P(ReferenceCaseOf, LeopardEmAgreesOnWholeMaps) {
  const auto folder = whole_reference();
  if (!folder) {
    MARGAY_SKIP_FOR_WANT_OF("reference", "set MARGAY_REFERENCE to the folder of all maps");
  }
  const engine::Maps maps = search_reference_case(GetParam(), *folder);
  const engine::Maps reference = read_whole_maps(*folder + "/leopard-em/" + GetParam());
  expect_agreement(compare(maps, reference), bounds_of(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Search, ReferenceCaseOf, testing::ValuesIn(kReferenceCases),
                         [](const auto& one) { return one.param; });

TEST(ReferencePeaks, MapsAndPeakListAreLeopardEms) {
  const std::string name = "unit_peaks";
  const engine::Maps maps = search_reference_case(name, MARGAY_TEST_DATA);
  const engine::Maps reference = read_whole_maps(reference_path(name, ""));
  expect_agreement(compare(maps, reference, read_image(reference_path(name, "untied.mrc"))),
                   Bounds{});

  const std::vector<Particle> wanted = read_peak_list(reference_path(name, "peaks.csv"));
  const std::vector<Particle> found = particles_of(maps);
  ASSERT_EQ(wanted.size(), 3u);
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Particle& ours = found[i];
    EXPECT_EQ(ours.x, wanted[i].x);
    EXPECT_EQ(ours.y, wanted[i].y);
    EXPECT_LT(pose_distance(ours, wanted[i]), 1e-3);
    EXPECT_EQ(ours.relative_defocus, wanted[i].relative_defocus);
    EXPECT_NEAR(ours.z, wanted[i].z, 1e-3);
    EXPECT_NEAR(ours.mip, wanted[i].mip, 1e-3);
  }
}

}  // namespace
}  // namespace tests

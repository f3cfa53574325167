// Every short case that Leopard-EM 1.2 ran, run by ours and compared: on the window that the
// project carries, and whole where MARGAY_REFERENCE names the folder of all maps.
#include "tests/reference.h"

#include <gtest/gtest.h>

#include "engine/config.h"
#include "engine/peaks.h"
#include "tests/require.h"
#include "tests/run_search.h"

namespace tests {
namespace {

struct Bounds {
  double rms = 1e-4;
  double largest_mip = 1e-3;
  double same_pose = 0.999;
  bool all_maps = true;  // else the MIP alone is bounded
};

// These pass through orientations at which Leopard-EM loses samples by rounding; only their counts,
// order and most poses can agree.
bool is_degenerate(const std::string& name) {
  return name == "unit_healpix_c4" || name == "unit_two_grids";
}

Bounds bounds_of(const std::string& name) {
  return is_degenerate(name) ? Bounds{0.02, 1e9, 0.99, false} : Bounds{};
}

void expect_agreement(const Agreement& found, const Bounds& bounds) {
  SCOPED_TRACE(describe(found));
  EXPECT_LE(found.mip, bounds.rms);
  EXPECT_LE(found.largest_mip, bounds.largest_mip);
  EXPECT_GT(found.same_pose, bounds.same_pose);
  if (!bounds.all_maps) return;
  EXPECT_LE(found.scaled_mip, bounds.rms);
  EXPECT_LE(found.mean, bounds.rms);
  EXPECT_LE(found.sd, bounds.rms);
  EXPECT_EQ(found.wrong_untied, 0);
}

class ReferenceCaseOf : public testing::TestWithParam<std::string> {};

TEST_P(ReferenceCaseOf, LeopardEmAgreesOnItsWindow) {
  const ReferenceCase wanted = reference_case(GetParam());
  const engine::Maps maps = search_reference_case(GetParam(), MARGAY_TEST_DATA);
  EXPECT_EQ(maps.total_orientations, wanted.orientations);
  EXPECT_EQ(maps.total_defocus, wanted.planes);
  EXPECT_EQ(maps.total_correlations, wanted.orientations * wanted.planes);

  const engine::Maps window = read_window(reference_path(GetParam(), "window.mrc"));
  const engine::Maps ours =
      cut(maps, *wanted.window_row, *wanted.window_column, window.height, window.width);
  std::optional<engine::Image> untied;
  if (!is_degenerate(GetParam())) untied = read_image(reference_path(GetParam(), "untied.mrc"));
  expect_agreement(compare(ours, window, untied), bounds_of(GetParam()));
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

INSTANTIATE_TEST_SUITE_P(Search, ReferenceCaseOf,
                         testing::Values("unit_plain", "unit_bandpass", "unit_nowhiten",
                                         "unit_amplitude", "unit_curve", "unit_even_zernike",
                                         "unit_odd_zernike", "unit_magnification", "unit_optics",
                                         "unit_defocus_zero_added", "unit_ranges",
                                         "unit_healpix_c4", "unit_two_grids"),
                         [](const auto& one) { return one.param; });

TEST(ReferencePeaks, MapsAndPeakListAreLeopardEms) {
  const std::string name = "unit_peaks";
  const engine::Maps maps = search_reference_case(name, MARGAY_TEST_DATA);
  const engine::Maps reference = read_whole_maps(reference_path(name, ""));
  expect_agreement(compare(maps, reference, read_image(reference_path(name, "untied.mrc"))),
                   Bounds{});

  const std::vector<Particle> wanted = read_peak_list(reference_path(name, "peaks.csv"));
  const std::vector<engine::Peak> found = engine::find_peaks(maps, {});
  ASSERT_EQ(wanted.size(), 3u);
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Particle ours = particle_of(found[i], 128);
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

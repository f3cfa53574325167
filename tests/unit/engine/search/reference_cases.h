// What Leopard-EM 1.2 found, and how near to it a search has to come.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/search/device.h"
#include "tests/reference.h"
#include "tests/run_search.h"

namespace tests {

inline constexpr const char* kReferenceCases[] = {
    "unit_plain",    "unit_bandpass",           "unit_nowhiten",    "unit_amplitude",
    "unit_curve",    "unit_even_zernike",       "unit_odd_zernike", "unit_magnification",
    "unit_optics",   "unit_defocus_zero_added", "unit_ranges",      "unit_healpix_c4",
    "unit_two_grids"};

struct Bounds {
  double rms = 1e-4;
  double largest_mip = 1e-3;
  double same_pose = 0.999;
  bool all_maps = true;  // else the MIP alone is bounded
};

// These pass through orientations at which Leopard-EM loses samples by rounding; only their counts,
// order and most poses can agree.
inline bool is_degenerate(const std::string& name) {
  return name == "unit_healpix_c4" || name == "unit_two_grids";
}

inline Bounds bounds_of(const std::string& name) {
  return is_degenerate(name) ? Bounds{0.02, 1e9, 0.99, false} : Bounds{};
}

inline void expect_agreement(const Agreement& found, const Bounds& bounds) {
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

// On the window that the project carries.
inline void expect_window_of_leopard_em(const std::string& name,
                                        const engine::DeviceOptions& device) {
  const ReferenceCase wanted = reference_case(name);
  const engine::Maps maps = search_reference_case(name, MARGAY_TEST_DATA, device);
  EXPECT_EQ(maps.total_orientations, wanted.orientations);
  EXPECT_EQ(maps.total_defocus, wanted.planes);
  EXPECT_EQ(maps.total_correlations, wanted.orientations * wanted.planes);

  const engine::Maps window = read_window(reference_path(name, "window.mrc"));
  const engine::Maps ours =
      cut(maps, *wanted.window_row, *wanted.window_column, window.height, window.width);
  std::optional<engine::Image> untied;
  if (!is_degenerate(name)) untied = read_image(reference_path(name, "untied.mrc"));
  expect_agreement(compare(ours, window, untied), bounds_of(name));
}

inline void expect_same_peaks(const std::vector<Particle>& found,
                              const std::vector<Particle>& wanted) {
  EXPECT_EQ(found.size(), wanted.size());
  for (const Particle& theirs : wanted) {
    const auto ours = nearest(found, theirs, 1.0);
    ASSERT_TRUE(ours) << "no peak at " << theirs.x << ", " << theirs.y;
    EXPECT_LT(pose_distance(*ours, theirs), 1e-2);
    EXPECT_EQ(ours->relative_defocus, theirs.relative_defocus);
    EXPECT_NEAR(ours->z, theirs.z, 0.02);
  }
}

}  // namespace tests

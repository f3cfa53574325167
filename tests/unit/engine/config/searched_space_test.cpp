// The planes of defocus and the grids of orientations that a configuration asks for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/config/config_reader.h"
#include "engine/error.h"
#include "tests/unit/engine/config/search_yaml.h"

namespace engine {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(SearchedSpace, DefocusPlanesFollowTheRange) {
  DefocusSearch search;
  EXPECT_THAT(defocus_planes(search), SizeIs(11));
  search.step = 300;
  EXPECT_THAT(defocus_planes(search), ElementsAre(-1000, -700, -400, -100, 0, 200, 500, 800, 1100));
  search.skip_enforce_zero = true;
  EXPECT_THAT(defocus_planes(search), SizeIs(8));
  search.enabled = false;
  EXPECT_THAT(defocus_planes(search), ElementsAre(0));
}

TEST(SearchedSpace, ASearchWithoutPlanesIsRefused) {
  EXPECT_THAT(with_defocus("{defocus_min: 100, defocus_max: -100}").refusal(),
              AllOf(HasSubstr("defocus_search_config"), HasSubstr("no planes to search")));
  EXPECT_THAT(with_defocus("{defocus_step: 0}").refusal(), HasSubstr("defocus_step"));
  EXPECT_THAT(with_defocus("{defocus_step: 1.0e-9}").refusal(), HasSubstr("too small"));
  EXPECT_THAT(with_defocus("{enabled: false, defocus_min: 100, defocus_max: -100}").refusal(),
              IsEmpty());
  DefocusSearch search;
  search.max = -2000;
  EXPECT_THROW(defocus_planes(search), InputError);
}

TEST(SearchedSpace, SymmetryAndRangesExcludeEachOther) {
  const auto grid =
      with_orientation("{symmetry: null, theta_min: 10, theta_max: 145}").parse().orientations[0];
  EXPECT_FALSE(grid.symmetry);
  EXPECT_EQ(grid.theta.max, 145.0);
  EXPECT_FALSE(grid.phi.min);
  EXPECT_THAT(with_orientation("{theta_max: 145}").refusal(), HasSubstr("symmetry: null"));
  EXPECT_THAT(with_orientation("{symmetry: null}").refusal(),
              HasSubstr("orientation_search_config.symmetry"));
  EXPECT_THAT(with_orientation("{symmetry: null, theta_min: 90, theta_max: 10}").refusal(),
              HasSubstr("theta_max is less than theta_min"));
  EXPECT_THAT(with_orientation("{symmetry: null, theta_min: 190}").refusal(),
              HasSubstr("no orientation"));
}

TEST(SearchedSpace, SymmetryGroupsAreCheckedEarly) {
  for (const std::string name : {"C1", "D7", "T", "O", "I", "C12"}) {
    EXPECT_EQ(with_orientation("{symmetry: " + name + "}").parse().orientations[0].symmetry, name);
  }
  EXPECT_EQ(with_orientation("{symmetry: d2}").parse().orientations[0].symmetry, "D2");
  EXPECT_EQ(with_orientation("{symmetry: C}").parse().orientations[0].symmetry, "C1");
  EXPECT_EQ(with_orientation("{symmetry: O3}").parse().orientations[0].symmetry, "O");
  EXPECT_THAT(with_orientation("{symmetry: X3}").refusal(), HasSubstr("not a known group"));
  EXPECT_THAT(with_orientation("{symmetry: 3C}").refusal(), HasSubstr("must be a letter"));
  EXPECT_THAT(with_orientation("{symmetry: C0}").refusal(), HasSubstr("order"));
  EXPECT_THAT(with_orientation("{symmetry: C99999999999999999999}").refusal(), HasSubstr("order"));
}

TEST(SearchedSpace, StepsAndGridMethodAreCheckedEarly) {
  EXPECT_THAT(with_orientation("{psi_step: 0}").refusal(), HasSubstr("psi_step"));
  EXPECT_THAT(with_orientation("{theta_step: -1}").refusal(), HasSubstr("theta_step"));
  EXPECT_THAT(with_orientation("{base_grid_method: basic}").refusal(), HasSubstr("healpix"));
  EXPECT_EQ(with_orientation("{base_grid_method: healpix}").parse().orientations[0].base_grid,
            BaseGrid::kHealpix);
}

TEST(SearchedSpace, SeveralGridsAreJoinedInOrder) {
  const SearchConfig config =
      with_orientation("{orientation_configs: [{psi_step: 83, symmetry: D2}, {symmetry: C3}]}")
          .parse();
  ASSERT_THAT(config.orientations, SizeIs(2));
  EXPECT_EQ(config.orientations[0].psi_step, 83.0);
  EXPECT_EQ(config.orientations[1].symmetry, "C3");
  EXPECT_THAT(with_orientation("{orientation_configs: []}").refusal(), HasSubstr("empty"));
  EXPECT_THAT(with_orientation("{orientation_configs: [{symmetry: C1}], psi_step: 2}").refusal(),
              HasSubstr("orientation_search_config.psi_step"));
  EXPECT_THAT(with_orientation("{orientation_configs: [{psi_stepp: 2}]}").refusal(),
              HasSubstr("orientation_configs[0].psi_stepp"));
}

}  // namespace
}  // namespace engine

#include "engine/search/plausibility.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/engine/search/small_search.h"

namespace engine {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A small search with usual optics.
SearchConfig usual() {
  SearchConfig config = small_config();
  config.optics.voltage = 300;
  config.optics.pixel_size = 1.06;
  config.optics.spherical_aberration = 2.7;
  config.optics.defocus_u = 10200;
  config.optics.defocus_v = 9800;
  return config;
}

TEST(Plausibility, UsualSettingsRaiseNoDoubt) {
  EXPECT_THAT(implausible_settings(usual()), IsEmpty());
}

TEST(Plausibility, DefocusInMicrometresAndOfTheOtherSignIsDoubted) {
  SearchConfig config = usual();
  config.optics.defocus_u = 1.02;
  config.optics.defocus_v = -9800;
  EXPECT_THAT(
      implausible_settings(config),
      ElementsAre(AllOf(HasSubstr("optics_group.defocus_u is 1.02 A"), HasSubstr("um")),
                  AllOf(HasSubstr("optics_group.defocus_v is -9800 A"), HasSubstr("overfocus"))));
}

TEST(Plausibility, VoltageAberrationAndPixelSizeInOtherUnitsAreDoubted) {
  SearchConfig config = usual();
  config.optics.voltage = 3000;
  config.optics.spherical_aberration = 27;
  config.optics.pixel_size = 0.106;
  EXPECT_THAT(implausible_settings(config),
              ElementsAre(HasSubstr("voltage is 3000 kV"), HasSubstr("aberration is 27 mm"),
                          HasSubstr("pixel_size is 0.106 A")));
}

TEST(Plausibility, StepsThatGiveHundredsOfMillionsOfOrientationsAreDoubted) {
  SearchConfig config = usual();
  config.orientations = {{.psi_step = 1.5, .theta_step = 0.15}};
  EXPECT_THAT(implausible_settings(config), ElementsAre(HasSubstr("psi_step and theta_step")));
}

}  // namespace
}  // namespace engine

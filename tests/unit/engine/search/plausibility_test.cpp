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
using testing::Not;

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
  EXPECT_THAT(implausible_settings(config),
              ElementsAre(AllOf(HasSubstr("optics_group.defocus_u is 1.02 A: is it in um?")),
                          AllOf(HasSubstr("optics_group.defocus_v is -9800 A: "),
                                HasSubstr("overfocus"), Not(HasSubstr("um?")))));
  config.optics.defocus_u = -1.02;
  config.optics.defocus_v = 980'000;
  EXPECT_THAT(
      implausible_settings(config),
      ElementsAre(AllOf(HasSubstr("overfocus"), HasSubstr("is the sign right? And is it in um?")),
                  HasSubstr("a digit too many")));
  config.optics.defocus_u = config.optics.defocus_v = 0;
  EXPECT_THAT(implausible_settings(config), IsEmpty());
}

TEST(Plausibility, ADefocusThatIsFarFromTheOtherIsDoubted) {
  SearchConfig config = usual();
  config.optics.defocus_v = 980;
  EXPECT_THAT(implausible_settings(config), ElementsAre(HasSubstr("differ by 9220 A")));
}

// Each asks for what such a number can be: the settings have been within their limits before.
TEST(Plausibility, OpticsWithSlipsOfThePenAndInOtherUnitsAreDoubted) {
  SearchConfig config = usual();
  config.optics.voltage = 3000;
  config.optics.spherical_aberration = 27;
  config.optics.pixel_size = 0.106;
  config.optics.amplitude_contrast_ratio = 0.7;
  config.optics.phase_shift = 1.57;
  EXPECT_THAT(implausible_settings(config),
              ElementsAre(AllOf(HasSubstr("voltage is 3000 kV"), HasSubstr("digit too many")),
                          AllOf(HasSubstr("aberration is 27 mm"), HasSubstr("decimal point")),
                          AllOf(HasSubstr("pixel_size is 0.106 A"), HasSubstr("in nm?")),
                          HasSubstr("contrast_ratio is 0.7: "),
                          AllOf(HasSubstr("phase_shift is 1.57 degrees"), HasSubstr("radians"))));
  config = usual();
  config.optics.pixel_size = 83;
  config.optics.voltage = 30;
  config.optics.phase_shift = 90;
  EXPECT_THAT(implausible_settings(config),
              ElementsAre(HasSubstr("voltage is 30 kV"),
                          AllOf(HasSubstr("pixel_size is 83 A"), HasSubstr("in pm?"))));
}

TEST(Plausibility, ASphericalAberrationInMetresIsDoubtedAndACorrectedOneIsNot) {
  SearchConfig config = usual();
  config.optics.spherical_aberration = 0.0027;
  EXPECT_THAT(implausible_settings(config),
              ElementsAre(AllOf(HasSubstr("aberration is 0.0027 mm"), HasSubstr("in m?"))));
  for (const double corrected : {0.0, 0.01}) {
    config.optics.spherical_aberration = corrected;
    EXPECT_THAT(implausible_settings(config), IsEmpty()) << corrected;
  }
}

TEST(Plausibility, ADefocusStepInMicrometresIsDoubted) {
  SearchConfig config = usual();
  config.defocus = {.enabled = true, .min = -0.1, .max = 0.1, .step = 0.02};
  EXPECT_THAT(implausible_settings(config),
              ElementsAre(AllOf(HasSubstr("defocus_step is 0.02 A"), HasSubstr("in um?"))));
}

TEST(Plausibility, StepsThatGiveHundredsOfMillionsOfOrientationsAreDoubted) {
  SearchConfig config = usual();
  config.orientations = {{.psi_step = 1.5, .theta_step = 0.15}};
  EXPECT_THAT(implausible_settings(config), ElementsAre(HasSubstr("psi_step and theta_step")));
}

}  // namespace
}  // namespace engine

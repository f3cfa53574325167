// The real program with fourier_crop: maps of the micrograph's size, peaks at their places.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "engine/io/mrc.h"
#include "tests/integration/engine_program.h"

namespace tests {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class FourierCrop : public EngineProgram {
 protected:
  void SetUp() override {
    EngineProgram::SetUp();
    search_.sections["preprocessing_filters"] =
        "{bandpass_filter: {enabled: true, high_freq_cutoff: 0.22, falloff: 0.03}}";
    search_.sections["fourier_crop"] = "{enabled: true}";
  }
  std::string manifest() const { return read(search_.file("out/manifest.json")); }
};

TEST_F(FourierCrop, GivesMapsOfTheMicrographsOwnPixelsAndSaysItsError) {
  const Finished done = search_.match();
  ASSERT_EQ(done.exit_code, 0) << done.error;
  EXPECT_THAT(done.error, HasSubstr("64 x 48 pixels, template 16^3, searched as 40 x 30 pixels, "
                                    "template 10^3"));
  EXPECT_THAT(done.error, HasSubstr("note: fourier_crop: over "));
  const engine::MrcFile mip = engine::read_mrc(search_.file("out/mip.mrc"));
  EXPECT_EQ(mip.header.nx, 64 - 16 + 1);
  EXPECT_EQ(mip.header.ny, 48 - 16 + 1);
  const Json crop = Json::parse(manifest())["fourier_crop"];
  EXPECT_EQ(crop["height"], 30);
  EXPECT_EQ(crop["width"], 40);
  EXPECT_EQ(crop["template_size"], 10);
  EXPECT_GT(crop["mip_rms"], 0.0);
  EXPECT_LT(crop["mip_rms"], 0.2);
}

TEST_F(FourierCrop, PicksTheSamePeaksAgainFromTheMaps) {
  const std::vector<std::string> many = {"--false-positives", "2000"};
  const Finished done = search_.match(many);
  ASSERT_EQ(done.exit_code, 0) << done.error;
  const Finished again = run({"peaks", "search.yaml", "--false-positives", "2000"});
  EXPECT_EQ(again.exit_code, 0) << again.error;
  EXPECT_EQ(again.output, read(search_.file("out/scaled_mip_peaks.csv")));
  EXPECT_THAT(again.output, HasSubstr("\n0,0,")) << "no peak was compared";
  // What the maps are of is in their manifest.
  search_.sections["fourier_crop"] = "{enabled: false}";
  search_.write_config();
  EXPECT_EQ(run({"peaks", "search.yaml", "--false-positives", "2000"}).output, again.output);
}

TEST_F(FourierCrop, SaysTheBestOfTheMapsPixels) {
  ASSERT_EQ(search_.match().exit_code, 0);
  const std::vector<float> map = engine::read_mrc(search_.file("out/scaled_mip.mrc")).values;
  const Json peaks = Json::parse(manifest())["peaks"];
  EXPECT_FLOAT_EQ(peaks["best_z"].get<float>(), *std::max_element(map.begin(), map.end()));
}

TEST_F(FourierCrop, RefusesMorePeaksThanItsOwnPixelsHaveBeforeTheSearch) {
  // 33 x 49 pixels of the maps, 21 x 31 of the search, each with 32 correlations.
  const Finished refused = search_.match({"--false-positives", "25000"});
  EXPECT_EQ(refused.exit_code, 64) << refused.error;
  EXPECT_THAT(refused.error, HasSubstr("below the number of values searched"));
  EXPECT_FALSE(std::filesystem::exists(search_.file("out/progress.json")));
}

TEST_F(FourierCrop, GivesTheSameMapsBySeveralRanks) {
  ASSERT_EQ(search_.match().exit_code, 0);
  const std::string alone = read(search_.file("out/scaled_mip.mrc"));
  search_.results = "ranks";
  const Finished two = search_.match({"--nproc", "2"});
  ASSERT_EQ(two.exit_code, 0) << two.error;
  EXPECT_EQ(read(search_.file("ranks/scaled_mip.mrc")), alone);
}

TEST_F(FourierCrop, WithoutALimitSaysThatItHasNoEffect) {
  search_.sections["preprocessing_filters"] = "{}";
  const Finished done = search_.match();
  ASSERT_EQ(done.exit_code, 0) << done.error;
  EXPECT_THAT(done.error, HasSubstr("note: fourier_crop has no effect"));
  EXPECT_TRUE(Json::parse(manifest())["fourier_crop"].is_null());
  search_.sections["fourier_crop"] = "{enable: true}";
  search_.write_config();
  EXPECT_THAT(run({"plan", "search.yaml"}).error, HasSubstr("fourier_crop.enable"));
}

TEST_F(FourierCrop, IsPartOfThePlan) {
  search_.write_config();
  const Finished plan = run({"plan", "search.yaml", "--json"});
  ASSERT_EQ(plan.exit_code, 0) << plan.error;
  const Json json = Json::parse(plan.output);
  EXPECT_EQ(json["micrograph"]["width"], 64);
  EXPECT_EQ(json["fourier_crop"]["width"], 40);
}

}  // namespace
}  // namespace tests

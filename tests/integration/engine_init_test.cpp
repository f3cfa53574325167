// The real `margay-engine init`: the configuration that it writes, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

#include "engine/io/mrc.h"
#include "tests/integration/engine_program.h"

namespace tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(EngineProgram, InitWritesAConfigurationThatTheEngineTakes) {
  const Finished made =
      run({"init", "new.yaml", "--micrograph", "image.mrc", "--template", "template.mrc"});
  ASSERT_EQ(made.exit_code, 0) << made.error;
  const std::string text = read(search_.file("new.yaml"));
  EXPECT_THAT(text, AllOf(HasSubstr("\nmicrograph_path: \"image.mrc\"\n"),
                          HasSubstr("\ntemplate_volume_path: \"template.mrc\"\n"),
                          HasSubstr("\n  pixel_size: 2\n"), HasSubstr("image_scaled_mip.mrc")));
  EXPECT_THAT(run({"plan", "new.yaml", "--backend", "cpu"}).error,
              HasSubstr("optics_group.defocus_u"));
  std::ofstream(search_.file("whole.yaml")) << with_every_key(text);
  const Finished plan = run({"plan", "whole.yaml", "--backend", "cpu"});
  EXPECT_EQ(plan.exit_code, 0) << plan.error;
}

TEST_F(EngineProgram, InitLeavesOpenWhatNoOptionSays) {
  ASSERT_EQ(run({"init"}).exit_code, 0);
  const std::string text = read(search_.file("search.yaml"));
  EXPECT_THAT(text, AllOf(HasSubstr("\n#micrograph_path: "), HasSubstr("\n#  pixel_size: ")));
  const Finished refused = run({"plan", "search.yaml", "--backend", "cpu"});
  EXPECT_EQ(refused.exit_code, 64);
  EXPECT_THAT(refused.error, HasSubstr("is missing"));
}

TEST_F(EngineProgram, InitOverwritesNothingAndRefusesWhatDoesNotFit) {
  std::ofstream(search_.file("mine.yaml")) << "mine";
  const Finished exists = run({"init", "mine.yaml"});
  EXPECT_EQ(exists.exit_code, 64);
  EXPECT_THAT(exists.error, HasSubstr("'mine.yaml' exists"));
  EXPECT_EQ(read(search_.file("mine.yaml")), "mine");
  EXPECT_THAT(run({"init", "no/folder.yaml"}).error, HasSubstr("no"));
  EXPECT_THAT(run({"init", "a.yaml", "--micrograph", "absent.mrc"}).error, HasSubstr("absent.mrc"));
  engine::write_mrc(search_.file("other.mrc"), small_template(), 3.0);
  const Finished differ =
      run({"init", "a.yaml", "--micrograph", "image.mrc", "--template", "other.mrc"});
  EXPECT_EQ(differ.exit_code, 64);
  EXPECT_THAT(differ.error, AllOf(HasSubstr("pixel size of 2 A"), HasSubstr("one of 3 A"),
                                  HasSubstr("--pixel-size here and --allow-pixel-size-mismatch")));
  EXPECT_FALSE(std::filesystem::exists(search_.file("a.yaml")));
  EXPECT_EQ(run({"init", "a.yaml", "--micrograph", "image.mrc", "--template", "other.mrc",
                 "--pixel-size", "2.5"})
                .exit_code,
            0);
  EXPECT_THAT(read(search_.file("a.yaml")), HasSubstr("\n  pixel_size: 2.5\n"));
}

TEST_F(EngineProgram, InitNamesResultsOfAPackedMicrographByWhatIsInIt) {
  const std::string packed = std::string(MARGAY_SOURCE_DIR) + "/tests/data/ramp_2.mrc.bz2";
  const Finished made = run({"init", "new.yaml", "--micrograph", packed});
  if (made.exit_code != 0) GTEST_SKIP() << made.error;  // a build without bzip2
  EXPECT_THAT(read(search_.file("new.yaml")), HasSubstr("\"results/ramp_2_mip.mrc\""));
}

TEST_F(EngineProgram, InitTakesNoNameThatWouldWriteOtherKeysIntoTheFile) {
  const auto before = search_.contents();
  for (const std::string name : {"a\nmicrograph_path: other.mrc\n#.yaml", "a\rb.yaml",
                                 "a\xc2\x85"
                                 "b.yaml",
                                 "a\xe2\x80\xa8"
                                 "b.yaml",
                                 "a\xff.yaml"}) {
    const Finished refused = run({"init", name});
    EXPECT_EQ(refused.exit_code, 64);
    EXPECT_THAT(refused.error, HasSubstr("FILE: the path has line breaks"));
  }
  EXPECT_EQ(search_.contents(), before);
  EXPECT_EQ(run({"init", "Aufnahme \xc3\xa4 1.yaml"}).exit_code, 0);
}

}  // namespace
}  // namespace tests

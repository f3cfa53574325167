// Bad input to the real program: a clear message naming file and field, exit status 64, nothing
// written.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>

#include "base/sha256.h"
#include "engine/io/mrc.h"
#include "tests/integration/small_search.h"
#include "tests/require.h"
#include "tests/small_disk.h"

namespace tests {
namespace {

using ::testing::HasSubstr;

constexpr int kBadInput = 64;

class BadInput : public ::testing::Test {
 protected:
  // Runs the search and expects a refusal whose message holds every one of `words`.
  void expect_refusal(const std::vector<std::string>& words,
                      const std::vector<std::string>& options = {}) {
    search_.write_config();
    const auto before = search_.contents();
    check(search_.match(options), words, before);
  }
  void check(const Finished& run, const std::vector<std::string>& words,
             const std::map<std::string, uintmax_t>& before) {
    EXPECT_EQ(run.exit_code, kBadInput) << run.error;
    for (const std::string& word : words) EXPECT_THAT(run.error, HasSubstr(word));
    EXPECT_EQ(run.output, "");
    EXPECT_EQ(search_.contents(), before) << "something was written";
  }
  void put(const std::string& name, const engine::Image& image, double pixel_size = 2.0) {
    engine::write_mrc(search_.file(name), image, pixel_size);
  }
  void put(const std::string& name, const engine::Volume& volume, double pixel_size = 2.0) {
    engine::write_mrc(search_.file(name), volume, pixel_size);
  }
  // Changes one 4-byte number of an MRC header.
  void poke(const std::string& name, std::streamoff offset, int32_t value) {
    std::fstream file(search_.file(name), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(offset);
    file.write(reinterpret_cast<const char*>(&value), sizeof(value));
  }

  SmallSearch search_;
};

TEST_F(BadInput, TheSearchThatTheOthersSpoilIsFine) {
  const Finished run = search_.match();
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_TRUE(std::filesystem::exists(search_.file("out/manifest.json")));
}

TEST_F(BadInput, OneOfSeveralTasksThatDoesNotKnowWhichIsRefusedBeforeItWritesOverTheOthers) {
  search_.write_config();
  const auto before = search_.contents();
  const std::map<std::string, std::string> ranks = {
      {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
      {"WORLD_SIZE", "RANK"},
      {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}};
  for (const auto& [name, rank] : ranks) {
    const Finished run = run_program({engine_program(), "match", search_.file("search.yaml")},
                                     search_.folder(), {name + "=4"});
    EXPECT_EQ(run.exit_code, 2) << run.error;
    EXPECT_THAT(run.error, HasSubstr(name));
    EXPECT_THAT(run.error, HasSubstr(rank + " is not set"));
  }
  EXPECT_EQ(search_.contents(), before) << "something was written";
}

TEST_F(BadInput, AMissingInputIsNamed) {
  search_.sections["micrograph_path"] = "no-such.mrc";
  expect_refusal({"micrograph_path", "no-such.mrc", "does not exist",
                  "relative paths start from the current folder, '" +
                      std::filesystem::canonical(search_.folder()).string()});
  search_.sections["micrograph_path"] = search_.file("no-such.mrc");
  const Finished run = search_.match();
  EXPECT_EQ(run.exit_code, kBadInput);
  EXPECT_THAT(run.error, Not(HasSubstr("relative")));
}

TEST_F(BadInput, AMissingConfigurationIsNamed) {
  const Finished run = run_program({engine_program(), "match", "no-such.yaml"}, search_.folder());
  EXPECT_EQ(run.exit_code, kBadInput);
  EXPECT_THAT(run.error, HasSubstr("no-such.yaml"));
}

TEST_F(BadInput, ATextThatIsNoConfigurationIsRefusedInOneLine) {
  for (const std::string text : {",", "[", "[[[", "{,"}) {
    std::ofstream(search_.file("broken.yaml")) << text;
    const auto before = search_.contents();
    const Finished run = run_program({engine_program(), "plan", "broken.yaml"}, search_.folder());
    check(run, {"broken.yaml"}, before);
    EXPECT_EQ(std::ranges::count(run.error, '\n'), 1) << text << ": " << run.error;
  }
}

TEST_F(BadInput, AnotherFileThanTheOneWhoseHashTheConfigurationNamesIsNotSearched) {
  search_.sections["micrograph_sha256"] = std::string(64, '0');
  expect_refusal({"micrograph_path", "image.mrc", "it is another file"});
  search_.sections["micrograph_sha256"] = base::sha256_of_file(search_.file("image.mrc"));
  search_.sections["template_volume_sha256"] = std::string(64, '0');
  expect_refusal({"template_volume_path", "template.mrc", "it is another file"});
  search_.sections["template_volume_sha256"] = base::sha256_of_file(search_.file("template.mrc"));
  const Finished run = search_.match();
  EXPECT_EQ(run.exit_code, 0) << run.error;
}

TEST_F(BadInput, AHashThatIsNoneIsRefused) {
  search_.sections["micrograph_sha256"] = "abc";
  expect_refusal({"search.yaml", "micrograph_sha256", "64 hexadecimal digits"});
}

TEST_F(BadInput, WhatIsNotAnMrcIsRefused) {
  std::ofstream(search_.file("image.mrc")) << std::string(20000, 'x');
  expect_refusal({"micrograph_path", "image.mrc", "not an MRC file"});
}

TEST_F(BadInput, AFileCutShortIsRefused) {
  std::filesystem::resize_file(search_.file("template.mrc"), 9000);
  expect_refusal({"template_volume_path", "template.mrc", "cut short", "9000 bytes"});
}

TEST_F(BadInput, AMicrographInThreeDimensionsIsRefused) {
  put("image.mrc", small_template(32));
  expect_refusal({"micrograph_path", "image.mrc", "3-D", "32 x 32 x 32"});
}

TEST_F(BadInput, ATemplateThatIsNotCubicIsRefused) {
  poke("template.mrc", 8, 12);  // nz
  expect_refusal({"template_volume_path", "template.mrc", "not cubic", "16 x 16 x 12"});
}

TEST_F(BadInput, ATemplateLargerThanTheMicrographIsRefused) {
  put("template.mrc", small_template(50));
  expect_refusal({"template_volume_path", "template.mrc", "50 x 50 x 50", "64 x 48"});
}

TEST_F(BadInput, OddSidesAreRefused) {
  put("image.mrc", small_micrograph(47, 64));
  expect_refusal({"micrograph_path", "64 x 47", "even"});
}

TEST_F(BadInput, ANanIsRefusedWithItsPlace) {
  engine::Image image = small_micrograph();
  image.at(17, 5) = std::numeric_limits<float>::quiet_NaN();
  put("image.mrc", image);
  expect_refusal({"micrograph_path", "image.mrc", "NaN", "row 17, column 5"});
}

TEST_F(BadInput, AConstantImageIsRefused) {
  put("image.mrc", engine::Image(48, 64, 3.0f));
  expect_refusal({"micrograph_path", "image.mrc", "constant"});
}

TEST_F(BadInput, APixelSizeThatContradictsTheHeaderIsRefused) {
  put("image.mrc", small_micrograph(), 1.0);
  expect_refusal(
      {"micrograph_path", "image.mrc", "optics_group.pixel_size", "--allow-pixel-size-mismatch"});
  const Finished run = search_.match({"--allow-pixel-size-mismatch"});
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_THAT(run.error, HasSubstr("note: micrograph_path"));
}

TEST_F(BadInput, AnUnknownKeyIsRefusedWithTheNearestOne) {
  search_.sections["defocus_search_config"] = "{enabeld: false}";
  expect_refusal({"search.yaml", "line 2", "defocus_search_config.enabeld", "enabled"});
}

TEST_F(BadInput, ASearchWithoutPlanesIsRefused) {
  search_.sections["defocus_search_config"] = "{defocus_min: 500, defocus_max: -500}";
  expect_refusal({"search.yaml", "defocus_search_config", "no planes", "defocus_max"});
}

TEST_F(BadInput, ASearchWithMoreCorrelationsThanTheIndexHoldsIsRefused) {
  search_.sections["orientation_search_config"] = "{psi_step: 0.001, theta_step: 2.5}";
  expect_refusal({"orientation_search_config", "correlations"});
}

TEST_F(BadInput, AnOutputThatExistsIsRefused) {
  ASSERT_EQ(search_.match().exit_code, 0);
  expect_refusal(
      {"out/manifest.json", "--overwrite", "match_template_result.allow_file_overwrite"});
  const Finished again = search_.match({"--overwrite"});
  EXPECT_EQ(again.exit_code, 0) << again.error;
}

TEST_F(BadInput, MapsThatAnotherSearchLeftAreNotReplacedUnasked) {
  ASSERT_EQ(search_.match().exit_code, 0);
  expect_refusal({"match_template_result.mip_path", "--overwrite"}, {"--output", "other/p.csv"});
}

// Another search has finished since, and its maps have the same names.
TEST_F(BadInput, MapsAreNotReplacedByASearchThatStoppedBeforeItWroteAny) {
  std::filesystem::create_directory(search_.file("lists"));
  std::ofstream(search_.file("lists/first_progress.json")) << "{\"state\": \"stopped\"}";
  ASSERT_EQ(search_.match({"--output", "lists/second.csv"}).exit_code, 0);
  expect_refusal({"match_template_result.mip_path", "--overwrite"},
                 {"--output", "lists/first.csv"});
}

TEST_F(BadInput, WhatAnUnfinishedSearchLeftIsReplaced) {
  ASSERT_EQ(search_.match().exit_code, 0);
  std::filesystem::remove(search_.file("out/manifest.json"));
  const Finished again = search_.match();
  EXPECT_EQ(again.exit_code, 0) << again.error;
}

TEST_F(BadInput, AFilterThatLeavesNothingIsRefused) {
  search_.sections["preprocessing_filters"] =
      "{bandpass_filter: {enabled: true, low_freq_cutoff: 0.9, high_freq_cutoff: 1.0}}";
  expect_refusal({"preprocessing_filters"});
}

TEST_F(BadInput, AnOutputThatIsAnInputIsRefused) {
  search_.results = ".";
  std::filesystem::rename(search_.file("image.mrc"), search_.file("mip.mrc"));
  search_.sections["micrograph_path"] = "mip.mrc";
  expect_refusal({"match_template_result.mip_path", "micrograph_path"}, {"--overwrite"});
}

TEST_F(BadInput, AnOptionThatWouldReplaceAnInputOrAResultIsRefused) {
  for (const std::string option : {"--progress", "--checkpoint"}) {
    expect_refusal({option, "micrograph_path"}, {option, "image.mrc"});
    expect_refusal({option, "template_volume_path"}, {option, "./template.mrc"});
    expect_refusal({option, "match_template_result.mip_path"}, {option, "out/mip.mrc"});
  }
  expect_refusal({"--checkpoint", "--progress"}, {"--progress", "x", "--checkpoint", "x"});
}

TEST_F(BadInput, ANameTooLongForTheFileSystemIsRefused) {
  expect_refusal({"--output", "too long"}, {"--output", std::string(300, 'n') + ".csv"});
}

TEST_F(BadInput, MoreFalsePositivesThanValuesAreRefused) {
  expect_refusal({"--false-positives", "1000000"}, {"--false-positives", "1000000"});
}

TEST_F(BadInput, AFileInThePlaceOfTheFolderIsRefused) {
  std::ofstream(search_.file("out")) << "a file";
  expect_refusal({"match_template_result.mip_path", "'out'", "not a folder"});
}

TEST_F(BadInput, AFolderThatIsNotWritableIsRefused) {
  ASSERT_EQ(::mkdir(search_.file("out").c_str(), 0555), 0);
  ASSERT_EQ(::chmod(search_.folder().c_str(), 0755), 0);
  const std::vector<std::string> words = {"match_template_result.mip_path", "'out'",
                                          "not writable"};
  if (::geteuid() != 0) {
    expect_refusal(words);
    return;
  }
  // Root may write everywhere, so that the program runs as nobody.
  const std::string setpriv = "/usr/bin/setpriv";
  if (::access(setpriv.c_str(), X_OK) != 0) {
    MARGAY_SKIP_FOR_WANT_OF("setpriv", "tests as root need it to run as somebody else");
  }
  search_.write_config();
  const auto before = search_.contents();
  check(run_program({setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", engine_program(),
                     "match", "search.yaml", "--backend", "cpu"},
                    search_.folder()),
        words, before);
}

TEST_F(BadInput, MissingDiskRoomIsFoundBeforeTheSearch) {
  const SmallDisk disk(search_.file("out"), "1m");
  if (!disk.is_mounted()) {
    MARGAY_SKIP_FOR_WANT_OF(
        "mount", std::string("a small file system cannot be mounted: ") + std::strerror(errno));
  }
  expect_refusal({"match_template_result.mip_path", "too little disk space", "B free"});
}

TEST_F(BadInput, ACheckpointOfNothingIsRefused) {
  expect_refusal({"absent.mgc"}, {"--resume", "absent.mgc"});
}

TEST_F(BadInput, AProjectionNeverReplacesAFileUnasked) {
  const auto before = search_.contents();
  const auto project = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {engine_program(), "project", "template.mrc", "--output"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments, search_.folder());
  };
  check(project({"image.mrc"}), {"image.mrc", "--overwrite"}, before);
  check(project({"./template.mrc", "--overwrite"}), {"--output", "template.mrc"}, before);
  EXPECT_EQ(project({"image.mrc", "--overwrite"}).exit_code, 0);
}

}  // namespace
}  // namespace tests

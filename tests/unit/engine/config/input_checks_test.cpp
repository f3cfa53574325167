#include "engine/config/input_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "base/sha256.h"
#include "engine/error.h"
#include "tests/unit/engine/scratch.h"

namespace engine {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

MrcFile make_file(const std::string& path, int nx, int ny, int nz, double pixel_size) {
  MrcFile file;
  file.path = path;
  file.header.nx = nx;
  file.header.ny = ny;
  file.header.nz = nz;
  file.header.pixel_size = {pixel_size, pixel_size, nz == 1 ? 0 : pixel_size};
  for (int i = 0; i < nx * ny * nz; ++i) file.values.push_back(static_cast<float>(i));
  return file;
}

class InputChecksTest : public ::testing::Test {
 protected:
  InputChecksTest() {
    config_.micrograph_path = "image.mrc";
    config_.template_volume_path = "template.mrc";
    config_.optics.pixel_size = 2.0;
  }
  std::string micrograph_refusal(const MrcFile& file, bool allow = false) {
    return refusal([&] { check_micrograph(file, config_, allow); });
  }
  std::string template_refusal(const MrcFile& file) {
    return refusal([&] { check_template(file, config_, false); });
  }
  SearchConfig config_;
  MrcFile image_ = make_file("image.mrc", 8, 6, 1, 2.0);
  MrcFile volume_ = make_file("template.mrc", 4, 4, 4, 2.0);
};

TEST_F(InputChecksTest, GoodInputPassesWithoutANote) {
  EXPECT_THAT(micrograph_refusal(image_), IsEmpty());
  EXPECT_THAT(template_refusal(volume_), IsEmpty());
  EXPECT_THAT(refusal([&] { check_shapes(image_, volume_, config_); }), IsEmpty());
  EXPECT_THAT(config_.notes, IsEmpty());
}

TEST_F(InputChecksTest, AMicrographInThreeDimensionsIsRefused) {
  EXPECT_THAT(micrograph_refusal(make_file("image.mrc", 4, 4, 2, 2.0)),
              AllOf(HasSubstr("micrograph_path"), HasSubstr("'image.mrc'"), HasSubstr("3-D")));
}

TEST_F(InputChecksTest, ATemplateMustBeACubicVolume) {
  EXPECT_THAT(template_refusal(make_file("template.mrc", 4, 4, 1, 2.0)), HasSubstr("2-D"));
  EXPECT_THAT(template_refusal(make_file("template.mrc", 4, 4, 6, 2.0)),
              AllOf(HasSubstr("template_volume_path"), HasSubstr("not cubic (4 x 4 x 6)")));
  volume_.header.volumes = 2;
  EXPECT_THAT(template_refusal(volume_), HasSubstr("stack of 2 volumes"));
}

TEST_F(InputChecksTest, OddSidesAreRefusedByName) {
  EXPECT_THAT(micrograph_refusal(make_file("image.mrc", 8, 7, 1, 2.0)), HasSubstr("even"));
  EXPECT_THAT(micrograph_refusal(make_file("image.mrc", 7, 8, 1, 2.0)), HasSubstr("even"));
  EXPECT_THAT(template_refusal(make_file("template.mrc", 5, 5, 5, 2.0)), HasSubstr("even"));
}

TEST_F(InputChecksTest, ATemplateLargerThanTheMicrographIsRefusedWithBothSizes) {
  const MrcFile large = make_file("template.mrc", 8, 8, 8, 2.0);
  EXPECT_THAT(refusal([&] { check_shapes(image_, large, config_); }),
              AllOf(HasSubstr("template_volume_path"), HasSubstr("8 x 8 x 8"), HasSubstr("8 x 6")));
  const MrcFile equal = make_file("template.mrc", 6, 6, 6, 2.0);
  EXPECT_THAT(refusal([&] { check_shapes(image_, equal, config_); }), IsEmpty());
}

TEST_F(InputChecksTest, TheFirstNanOrInfinityIsNamedByRowAndColumn) {
  image_.values[2 * 8 + 5] = std::numeric_limits<float>::quiet_NaN();
  image_.values[3 * 8] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(micrograph_refusal(image_), AllOf(HasSubstr("NaN"), HasSubstr("row 2, column 5")));
  volume_.values[(3 * 4 + 1) * 4 + 2] = -std::numeric_limits<float>::infinity();
  EXPECT_THAT(template_refusal(volume_),
              AllOf(HasSubstr("infinite"), HasSubstr("section 3, row 1, column 2")));
}

TEST_F(InputChecksTest, AConstantImageIsRefused) {
  image_.values.assign(image_.values.size(), 7.5f);
  EXPECT_THAT(micrograph_refusal(image_), AllOf(HasSubstr("constant"), HasSubstr("7.5")));
  volume_.values.assign(volume_.values.size(), 0.0f);
  EXPECT_THAT(template_refusal(volume_), HasSubstr("constant"));
}

TEST_F(InputChecksTest, APixelSizeThatContradictsTheHeaderIsRefused) {
  EXPECT_THAT(
      micrograph_refusal(make_file("image.mrc", 8, 6, 1, 2.01)),
      AllOf(HasSubstr("micrograph_path"), HasSubstr("2.01 A"), HasSubstr("optics_group.pixel_size"),
            HasSubstr("--allow-pixel-size-mismatch")));
  EXPECT_THAT(micrograph_refusal(make_file("image.mrc", 8, 6, 1, 2.0019)), IsEmpty());
  EXPECT_THAT(template_refusal(make_file("template.mrc", 4, 4, 4, 1.0)),
              HasSubstr("template_volume_path"));
  image_.header.pixel_size = {2.0, 4.0, 0};
  EXPECT_THAT(micrograph_refusal(image_), HasSubstr("4 A"));
}

TEST_F(InputChecksTest, AnAllowedContradictionIsNoted) {
  EXPECT_THAT(micrograph_refusal(make_file("image.mrc", 8, 6, 1, 1.0), true), IsEmpty());
  EXPECT_THAT(config_.notes, ElementsAre(HasSubstr("--allow-pixel-size-mismatch")));
}

TEST_F(InputChecksTest, AnUnknownPixelSizeIsNotedOnce) {
  EXPECT_THAT(micrograph_refusal(make_file("image.mrc", 8, 6, 1, 0.0)), IsEmpty());
  EXPECT_THAT(config_.notes, ElementsAre(HasSubstr("no pixel size")));
}

TEST_F(InputChecksTest, AFileThatCannotBeReadIsNamedWithItsField) {
  config_.template_volume_path = "no/such/template.mrc";
  EXPECT_THAT(refusal([&] { read_inputs(config_, false); }),
              AllOf(HasSubstr("template_volume_path"), HasSubstr("no/such/template.mrc")));
  const ScratchFolder folder;
  config_.template_volume_path = folder.file("template.mrc");
  write_mrc(config_.template_volume_path, Volume{.size = 4, .voxels = volume_.values}, 2.0);
  config_.micrograph_path = "no/such/image.mrc";
  EXPECT_THAT(refusal([&] { read_inputs(config_, false); }),
              AllOf(HasSubstr("micrograph_path"), HasSubstr("no/such/image.mrc")));
}

// Small enough to be searched, in files.
class NamedHashesTest : public InputChecksTest {
 protected:
  NamedHashesTest() {
    config_.micrograph_path = folder_.file("image.mrc");
    config_.template_volume_path = folder_.file("template.mrc");
    Image image(6, 8);
    image.pixels = image_.values;
    write_mrc(config_.micrograph_path, image, 2.0);
    write_mrc(config_.template_volume_path, Volume{.size = 4, .voxels = volume_.values}, 2.0);
  }
  std::string read_refusal() {
    return refusal([&] { read_inputs(config_, false); });
  }
  const ScratchFolder folder_;
};

TEST_F(NamedHashesTest, FilesThatHaveThemAreRead) {
  config_.micrograph_sha256 = base::sha256_of_file(config_.micrograph_path);
  config_.template_volume_sha256 = base::sha256_of_file(config_.template_volume_path);
  const InputFiles files = read_inputs(config_, false);
  EXPECT_EQ(files.micrograph.values, image_.values);
  EXPECT_EQ(files.micrograph.sha256, config_.micrograph_sha256);
  EXPECT_EQ(files.volume.sha256, config_.template_volume_sha256);
}

TEST_F(NamedHashesTest, AnotherFileIsRefusedByItsNameAlone) {
  const std::string other(64, '0');
  config_.micrograph_sha256 = other;
  EXPECT_EQ(read_refusal(), "micrograph_path: '" + config_.micrograph_path +
                                "' does not have the SHA-256 that micrograph_sha256 names: it is "
                                "another file, and nothing of it is searched");
  config_.template_volume_sha256 = other;
  EXPECT_THAT(read_refusal(), AllOf(HasSubstr(config_.template_volume_path),
                                    HasSubstr("template_volume_sha256 names")));
}

TEST_F(NamedHashesTest, OfAnotherFileNothingIsSaidThatStandsInIt) {
  config_.micrograph_sha256 = base::sha256_of_file(config_.micrograph_path);
  std::ofstream(config_.micrograph_path) << "a secret that is no micrograph at all";
  EXPECT_THAT(read_refusal(), HasSubstr("it is another file"));
}

class OutputChecksTest : public ::testing::Test {
 protected:
  OutputChecksTest() {
    config_.micrograph_path = folder_.file("image.mrc");
    config_.template_volume_path = folder_.file("template.mrc");
    put_maps_into(folder_.file("new/deep"));
  }
  void put_maps_into(const std::string& where) {
    config_.results = {.allow_file_overwrite = false,
                       .mip = where + "/mip.mrc",
                       .scaled_mip = where + "/scaled.mrc",
                       .correlation_average = where + "/mean.mrc",
                       .correlation_variance = where + "/sd.mrc",
                       .orientation_psi = where + "/psi.mrc",
                       .orientation_theta = where + "/theta.mrc",
                       .orientation_phi = where + "/phi.mrc",
                       .relative_defocus = where + "/defocus.mrc"};
    manifest_ = where + "/manifest.json";
  }
  std::string refusal_with(const OutputChecks& options = {}) const {
    return refusal([&] { check_outputs(config_, manifest_, options); });
  }
  ScratchFolder folder_;
  SearchConfig config_;
  std::string manifest_;
};

TEST_F(OutputChecksTest, FoldersThatCanBeMadeAreFineAndNothingIsMade) {
  EXPECT_THAT(refusal_with({.csv_path = folder_.file("other/peaks.csv"), .bytes_needed = 1024}),
              IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(OutputChecksTest, AFileWhereAFolderIsNeededIsNamed) {
  write_file(folder_.file("new"), "a file");
  EXPECT_THAT(refusal_with(), AllOf(HasSubstr("match_template_result.mip_path"),
                                    HasSubstr(folder_.file("new")), HasSubstr("not a folder")));
}

TEST_F(OutputChecksTest, AFolderThatIsNotWritableIsNamed) {
  ASSERT_EQ(::mkdir(folder_.file("new").c_str(), 0555), 0);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  // Root may write everywhere, so that the check runs as nobody.
  const bool root = ::geteuid() == 0;
  ASSERT_EQ(root ? ::seteuid(65534) : 0, 0);
  const std::string message = refusal_with();
  ASSERT_EQ(root ? ::seteuid(0) : 0, 0);
  EXPECT_THAT(message, AllOf(HasSubstr("mip_path"), HasSubstr("not writable")));
}

TEST_F(OutputChecksTest, AFolderInThePlaceOfAFileIsNamed) {
  std::filesystem::create_directories(folder_.file("new/deep/psi.mrc"));
  EXPECT_THAT(refusal_with(), AllOf(HasSubstr("orientation_psi_path"), HasSubstr("regular file")));
}

TEST_F(OutputChecksTest, MissingDiskRoomIsNamed) {
  EXPECT_THAT(refusal_with({.bytes_needed = std::numeric_limits<uint64_t>::max()}),
              AllOf(HasSubstr("too little disk space"),
                    HasSubstr("18,446,744,073,710 MB are needed"), HasSubstr("mip_path")));
}

TEST_F(OutputChecksTest, AFinishedSetIsReplacedOnlyWhenAskedFor) {
  std::filesystem::create_directories(folder_.file("new/deep"));
  write_file(folder_.file("new/deep/mip.mrc"), "left over");
  EXPECT_THAT(refusal_with(), IsEmpty()) << "without a manifest the set is unfinished";
  write_file(manifest_, "{}");
  EXPECT_THAT(refusal_with(), AllOf(HasSubstr(manifest_), HasSubstr("--overwrite"),
                                    HasSubstr("match_template_result.allow_file_overwrite")));
  EXPECT_THAT(refusal_with({.overwrite = true}), IsEmpty());
  config_.results.allow_file_overwrite = true;
  EXPECT_THAT(refusal_with(), IsEmpty());
}

TEST_F(OutputChecksTest, AnInputIsNeverReplaced) {
  write_file(config_.micrograph_path, "pixels");
  std::filesystem::create_symlink(folder_.path(), folder_.file("link"));
  config_.results.allow_file_overwrite = true;
  config_.results.mip = folder_.file("link/image.mrc");
  EXPECT_THAT(refusal_with({.overwrite = true}),
              AllOf(HasSubstr("mip_path"), HasSubstr("same file as micrograph_path")));
}

TEST_F(OutputChecksTest, TwoOutputsUnderOneNameAreRefused) {
  config_.results.mip = folder_.file("new/./deep/psi.mrc");
  EXPECT_THAT(refusal_with(), HasSubstr("same file as match_template_result.mip_path"));
  put_maps_into(folder_.file("new"));
  EXPECT_THAT(refusal_with({.csv_path = folder_.file("new/mip.mrc")}),
              AllOf(HasSubstr("--output"), HasSubstr("same file")));
}

TEST(Ending, OfAnotherKindOfFileIsRefused) {
  for (const char* ending :
       {".png", ".PNG", ".jpg", ".jpeg", ".tif", ".tiff", ".pdf", ".svg", ".star", ".gz", ".bz2"}) {
    const std::string name = std::string("out/view") + ending;
    EXPECT_THROW(check_ending("--output", name, Written::kMrc), UsageError) << name;
    EXPECT_THROW(check_ending("--output", name, Written::kCsv), UsageError) << name;
  }
  EXPECT_THROW(check_ending("--output", "a.csv", Written::kMrc), UsageError);
  EXPECT_THROW(check_ending("--output", "a.mrc", Written::kCsv), UsageError);
  try {
    check_ending("--output", "a.mrc.GZ", Written::kMrc);
    FAIL() << "not refused";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "--output: 'a.mrc.GZ' would be no .gz file: it is written as MRC; end its name "
                 "with .mrc");
  }
}

TEST(Ending, OfItsOwnKindOrOfNoneIsAllowed) {
  for (const char* name : {"a", "a.b/c", "a.dat", "a.map", "png", ".png", "a.", "/dev/stdout"}) {
    EXPECT_NO_THROW(check_ending("--output", name, Written::kMrc)) << name;
    EXPECT_NO_THROW(check_ending("--output", name, Written::kCsv)) << name;
  }
  EXPECT_NO_THROW(check_ending("--output", "a.MRC", Written::kMrc));
  EXPECT_NO_THROW(check_ending("--output", "a.mrcs", Written::kMrc));
  EXPECT_NO_THROW(check_ending("--output", "a.csv", Written::kCsv));
}

}  // namespace
}  // namespace engine

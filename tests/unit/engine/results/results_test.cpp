#include "engine/results/results.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>

#include "base/atomic_file.h"
#include "base/read_file.h"
#include "engine/config/config_reader.h"
#include "engine/io/input_errors.h"
#include "engine/io/mrc.h"
#include "engine/results/peaks_csv.h"
#include "tests/small_disk.h"
#include "tests/unit/engine/scratch.h"
#include "tests/unit/engine/search/reference_csv.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

ResultPaths paths_in(const std::string& folder) {
  return {.mip = folder + "/mip.mrc",
          .scaled_mip = folder + "/scaled_mip.mrc",
          .correlation_average = folder + "/mean.mrc",
          .correlation_variance = folder + "/sd.mrc",
          .orientation_psi = folder + "/psi.mrc",
          .orientation_theta = folder + "/theta.mrc",
          .orientation_phi = folder + "/phi.mrc",
          .relative_defocus = folder + "/defocus.mrc"};
}

Maps some_maps(int height, int width) {
  return {.height = height,
          .width = width,
          .mip = Image(height, width, 1.0f),
          .scaled_mip = Image(height, width, 2.0f),
          .mean = Image(height, width, 3.0f),
          .sd = Image(height, width, 4.0f),
          .psi = Image(height, width, 5.0f),
          .theta = Image(height, width, 6.0f),
          .phi = Image(height, width, 7.0f),
          .relative_defocus = Image(height, width, 8.0f)};
}

class ReferenceCsv : public ::testing::TestWithParam<const char*> {};

TEST_P(ReferenceCsv, IsReproducedByteForByteFromItsValues) {
  const std::string folder = std::string(MARGAY_TEST_DATA) + "/leopard-em/" + GetParam();
  const std::string text = read_file(folder + "/peaks.csv");
  ASSERT_FALSE(text.empty());
  const SearchConfig config = read_search_config(folder + "/config.yaml");
  EXPECT_EQ(peaks_csv(peaks_of_csv(text), config, correlations_of_csv(text), 128), text);
}

INSTANTIATE_TEST_SUITE_P(Cases, ReferenceCsv,
                         ::testing::Values("unit_peaks", "unit_optics", "unit_plain",
                                           "unit_even_zernike", "lsu512", "apo512"));

// The last line of a list with one peak, cut at commas outside quotes, by column name.
std::map<std::string, std::string> only_row(const std::string& csv) {
  const auto split = [](const std::string& line) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      if (c == ',' && !quoted) {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    return cells;
  };
  const size_t end = csv.find('\n');
  const auto names = split(csv.substr(0, end));
  const auto cells = split(csv.substr(end + 1, csv.size() - end - 2));
  std::map<std::string, std::string> row;
  for (size_t i = 0; i < cells.size(); ++i) row[names.at(i)] = cells[i];
  EXPECT_EQ(names.size(), cells.size());
  return row;
}

// The hidden name is known to whoever reads the process's number.
TEST(Maps, ALinkUnderAHiddenNameIsNotFollowed) {
  const ScratchFolder scratch;
  const std::string aim = scratch.file("aim");
  std::ofstream(aim) << "of another";
  const ResultPaths paths = paths_in(scratch.path());
  for (const std::string& path : {paths.mip, scratch.file("picture.mrc")}) {
    const base::AtomicFile same_name(path, base::Folder::kMustExist);
    fs::create_symlink(aim, same_name.temporary());
    if (path == paths.mip) {
      write_maps(some_maps(4, 6), paths, 1.0);
    } else {
      write_image(path, Image(4, 6, 1.0f), 1.0);
    }
    EXPECT_EQ(base::read_file(aim), "of another");
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(path)));
    EXPECT_EQ(read_mrc(path).header.nx, 6);
  }
}

TEST(PeaksCsv, WritesZernikesAsJsonAndTheMagnificationAsAPythonList) {
  SearchConfig config;
  config.optics.even_zernikes = {{"Z44c", 0.4}, {"Z60", -1e-05}};
  config.optics.odd_zernikes = {{"Z31c", 2.0}};
  config.optics.mag_matrix = {1.02, 0.0, -0.01, 1.0};
  const auto row = only_row(peaks_csv({Peak{}}, config, 1, 128));
  EXPECT_EQ(row.at("even_zernikes"), R"("{""Z44c"": 0.4, ""Z60"": -1e-05}")");
  EXPECT_EQ(row.at("odd_zernikes"), R"("{""Z31c"": 2.0}")");
  EXPECT_EQ(row.at("mag_matrix"), R"("[1.02, 0.0, -0.01, 1.0]")");
}

TEST(PeaksCsv, QuotesPathsAsPythonDoes) {
  SearchConfig config;
  config.micrograph_path = "/data/a,b/\"best\" one.mrc";
  config.template_volume_path = "/data/two\nlines.mrc";
  config.results.mip = "/data/it's; fine.mrc";
  const auto row = only_row(peaks_csv({Peak{}}, config, 1, 128));
  EXPECT_EQ(row.at("micrograph_path"), R"("/data/a,b/""best"" one.mrc")");
  EXPECT_EQ(row.at("template_path"), "\"/data/two\nlines.mrc\"");
  EXPECT_EQ(row.at("mip_path"), "/data/it's; fine.mrc");
}

TEST(PeaksCsv, WritesNumbersAsPythonDoes) {
  const std::pair<float, const char*> cases[] = {{0.0f, "0.0"},
                                                 {-0.0f, "-0.0"},
                                                 {0.1f, "0.1"},
                                                 {1e-5f, "1e-05"},
                                                 {1.5e-5f, "1.5e-05"},
                                                 {1e-4f, "0.0001"},
                                                 {-123.25f, "-123.25"},
                                                 {360.0f, "360.0"},
                                                 {123456789.0f, "123456790.0"},
                                                 {1e16f, "1e+16"},
                                                 {9.9999999e15f, "1e+16"},
                                                 {3.0e15f, "3000000000000000.0"},
                                                 {1e-40f, "1e-40"},
                                                 {std::numeric_limits<float>::infinity(), "inf"},
                                                 {std::numeric_limits<float>::quiet_NaN(), ""}};
  for (const auto& [value, text] : cases) {
    const auto row = only_row(peaks_csv({Peak{.mip = value}}, {}, 1, 128));
    EXPECT_EQ(row.at("mip"), text);
  }
}

TEST(PeaksCsv, TheCentreIsHalfATemplateFromTheCorner) {
  SearchConfig config;
  config.optics.pixel_size = 1.5;
  const auto row = only_row(peaks_csv({Peak{.x = 10, .y = 20}}, config, 1, 65));
  EXPECT_EQ(row.at("pos_x"), "10");
  EXPECT_EQ(row.at("pos_x_img"), "42");
  EXPECT_EQ(row.at("pos_y_img"), "52");
  EXPECT_EQ(row.at("pos_x_img_angstrom"), "63.0");
  EXPECT_EQ(row.at("pos_y_img_angstrom"), "78.0");
}

TEST(PeaksCsv, WithoutPeaksThereIsOnlyTheHeader) {
  const std::string text = peaks_csv({}, {}, 1, 128);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  EXPECT_EQ(text.substr(0, 16), ",particle_index,");
}

TEST(OutputPathsOf, FollowTheScaledMipOrTheOption) {
  SearchConfig config;
  config.results.scaled_mip = "out/run1/scaled_mip.mrc";
  EXPECT_EQ(output_paths(config, "").csv, "out/run1/scaled_mip_peaks.csv");
  EXPECT_EQ(output_paths(config, "").manifest, "out/run1/manifest.json");
  EXPECT_EQ(output_paths(config, "/a/b/list.csv").csv, "/a/b/list.csv");
  EXPECT_EQ(output_paths(config, "/a/b/peaks.csv").progress, "/a/b/progress.json");
  EXPECT_EQ(output_paths(config, "peaks.csv").beginning, "./");
}

TEST(OutputPathsOf, SeveralSearchesShareAFolder) {
  SearchConfig config;
  EXPECT_EQ(output_paths(config, "/a/42.csv").manifest, "/a/42_manifest.json");
  EXPECT_EQ(output_paths(config, "/a/42.csv").progress, "/a/42_progress.json");
  EXPECT_EQ(output_paths(config, "/a/42_peaks.csv").beginning, "/a/42_");
  EXPECT_EQ(output_paths(config, "/a/highpeaks.csv").beginning, "/a/highpeaks_");
  EXPECT_EQ(output_paths(config, "/a/42_.csv").beginning, "/a/42__");
  config.results.scaled_mip = "maps/42_scaled_mip.mrc";
  EXPECT_EQ(output_paths(config, "").manifest, "maps/42_manifest.json");
  config.results.scaled_mip = "maps/42.mrc";
  EXPECT_EQ(output_paths(config, "").manifest, "maps/42_manifest.json");
}

TEST(OutputPathsOf, RefuseAnOptionThatIsNoList) {
  const ScratchFolder folder;
  fs::create_directory(folder.file("dir.csv"));
  for (const std::string& wrong : {folder.path(), folder.file("mip.mrc"), folder.file("dir.csv")}) {
    EXPECT_THROW(output_paths({}, wrong), UsageError) << wrong;
  }
}

TEST(WriteMaps, WhatIsWrittenIsReadBackAndNothingElseIsLeft) {
  const ScratchFolder folder;
  const ResultPaths paths = paths_in(folder.file("new/deep"));
  write_maps(some_maps(5, 7), paths, 1.06);
  EXPECT_THAT(names_in(folder.file("new/deep")),
              UnorderedElementsAre("mip.mrc", "scaled_mip.mrc", "mean.mrc", "sd.mrc", "psi.mrc",
                                   "theta.mrc", "phi.mrc", "defocus.mrc"));
  const Maps maps = read_maps(paths);
  EXPECT_EQ(maps.height, 5);
  EXPECT_EQ(maps.width, 7);
  EXPECT_EQ(maps.mip.at(4, 6), 1.0f);
  EXPECT_EQ(maps.scaled_mip.at(4, 6), 2.0f);
  EXPECT_EQ(maps.mean.at(4, 6), 3.0f);
  EXPECT_EQ(maps.sd.at(4, 6), 4.0f);
  EXPECT_EQ(maps.psi.at(4, 6), 5.0f);
  EXPECT_EQ(maps.theta.at(4, 6), 6.0f);
  EXPECT_EQ(maps.phi.at(4, 6), 7.0f);
  EXPECT_EQ(maps.relative_defocus.at(4, 6), 8.0f);
  EXPECT_NEAR(read_mrc_header(paths.orientation_phi).pixel_size[0], 1.06, 1e-6);
  // Each under its own name, which reading in the same order as writing would not show.
  std::vector<float> values;
  for (const char* name : {"mip.mrc", "scaled_mip.mrc", "mean.mrc", "sd.mrc", "psi.mrc",
                           "theta.mrc", "phi.mrc", "defocus.mrc"}) {
    values.push_back(to_image(read_mrc(folder.file("new/deep") + "/" + name)).at(4, 6));
  }
  EXPECT_THAT(values, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
}

TEST(ReadMaps, MapsOfTwoSearchesAreRefusedByName) {
  const ScratchFolder folder;
  const ResultPaths paths = paths_in(folder.path());
  write_maps(some_maps(5, 7), paths, 1.0);
  write_mrc(paths.orientation_theta, Image(5, 8), 1.0);
  EXPECT_THAT(refusal([&] { read_maps(paths); }), HasSubstr("theta.mrc"));
}

TEST(WriteMaps, AFolderThatCannotBeMadeIsNamed) {
  const ScratchFolder folder;
  write_file(folder.file("file"), "");
  try {
    write_maps(some_maps(2, 2), paths_in(folder.file("file/below")), 1.0);
    FAIL() << "written below a file";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(folder.file("file/below")));
    EXPECT_THAT(error.what(), HasSubstr("Not a directory"));
  }
}

// Files may not grow beyond a limit while this lives: as on a full disk, a write fails half-way.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST(WriteMaps, AWriteThatFailsNamesTheMapAndLeavesTheOldOnes) {
  const ScratchFolder folder;
  const ResultPaths paths = paths_in(folder.path());
  write_maps(some_maps(2, 2), paths, 1.0);
  Maps larger = some_maps(2, 2);
  larger.phi = Image(200, 200, 9.0f);
  const FileSizeLimit limit(10000);
  try {
    write_maps(larger, paths, 1.0);
    FAIL() << "written beyond the limit";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("phi.mrc"));
    EXPECT_THAT(error.what(), HasSubstr("File too large"));
  }
  EXPECT_EQ(names_in(folder.path()).size(), 8u);
  EXPECT_EQ(read_maps(paths).phi.at(1, 1), 7.0f);
}

TEST(AtomicText, ReplacesTheOldTextAndLeavesNothingBeside) {
  const ScratchFolder folder;
  const std::string path = folder.file("a/" + std::string(250, 'n') + ".csv");
  write_text_atomically(path, "old");
  write_text_atomically(path, "new");
  EXPECT_EQ(read_file(path), "new");
  EXPECT_EQ(names_in(folder.file("a")).size(), 1u);
}

TEST(AtomicText, AWriteThatFailsNamesTheFileAndKeepsTheOldText) {
  const ScratchFolder folder;
  const std::string path = folder.file("list.csv");
  write_text_atomically(path, "old");
  const FileSizeLimit limit(1000);
  try {
    write_text_atomically(path, std::string(5000, 'x'));
    FAIL() << "written beyond the limit";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("list.csv"));
  }
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(names_in(folder.path()).size(), 1u);
}

TEST(AtomicText, AFullDiskIsCalledSo) {
  const ScratchFolder folder;
  const tests::SmallDisk disk(folder.path());
  if (!disk.is_mounted()) GTEST_SKIP() << "needs root, to mount a small disk";
  disk.fill();
  try {
    write_text_atomically(folder.file("list.csv"), "text");
    FAIL() << "written to a full disk";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("disk is full"));
    EXPECT_THAT(error.what(), HasSubstr("list.csv"));
  }
}

}  // namespace
}  // namespace engine

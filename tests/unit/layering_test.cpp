#include "tests/unit/layering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

namespace tests {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const fs::path kRoot = MARGAY_SOURCE_DIR;
const std::vector<std::string> kFolders = {"base",      "engine", "db",   "slurm",
                                           "scheduler", "tests",  "bench"};

std::vector<fs::path> our_sources() {
  std::vector<fs::path> sources;
  for (const std::string& folder : kFolders) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".h" || extension == ".cpp" || extension == ".cu" || extension == ".cuh") {
        sources.push_back(entry.path().lexically_relative(kRoot));
      }
    }
  }
  return sources;
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Layering, EveryIncludeOfOursFollowsTheHouse) {
  const auto sources = our_sources();
  ASSERT_GT(sources.size(), 50u) << "the sources were not found under " << kRoot;
  for (const fs::path& source : sources) {
    EXPECT_THAT(layering_faults(source.string(), text_of(kRoot / source)), IsEmpty());
  }
}

TEST(Layering, NoFolderIsADrawerForEverything) {
  const std::set<std::string> drawers = {"include", "common", "util", "utils", "misc", "helpers"};
  for (const std::string& folder : kFolders) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      if (!entry.is_directory()) continue;
      EXPECT_EQ(drawers.count(entry.path().filename().string()), 0u) << entry.path();
    }
  }
}

TEST(Layering, NoFilesIncludeEachOtherInACircle) {
  std::map<std::string, std::string> files;
  for (const fs::path& source : our_sources()) files[source.string()] = text_of(kRoot / source);
  EXPECT_THAT(include_circles(files), IsEmpty());
}

TEST(Layering, TheEngineMayNotIncludeTheDatabase) {
  EXPECT_THAT(layering_faults("engine/numerics/peaks.cpp", "#include \"db/records.h\"\n"),
              ElementsAre(HasSubstr("engine/numerics/ may not include db/")));
}

TEST(Layering, TheDatabaseMayNotIncludeTheScheduler) {
  EXPECT_THAT(layering_faults("db/items.cpp", "#  include \"scheduler/policy/policy.h\" // why\n"),
              ElementsAre(HasSubstr("db/ may not include scheduler/policy/")));
}

TEST(Layering, ARoomIncludesLowerRoomsAndNoHigherOne) {
  EXPECT_THAT(layering_faults("engine/search/match.cpp", "#include \"engine/io/mrc.h\"\n"),
              IsEmpty());
  EXPECT_THAT(layering_faults("engine/io/mrc.cpp", "#include \"engine/search/match.h\"\n"),
              ElementsAre(HasSubstr("engine/io/ may not include engine/search/")));
  EXPECT_THAT(layering_faults("engine/cpu/kernels.cpp", "#include \"engine/cuda/tiling.h\"\n"),
              ElementsAre(HasSubstr("engine/cpu/ may not include engine/cuda/")));
}

TEST(Layering, EveryRoomMayIncludeItsRootAndTheBottomRoom) {
  EXPECT_THAT(layering_faults("engine/io/mrc.cpp",
                              "#include \"base/text.h\"\n#include \"engine/error.h\"\n"),
              IsEmpty());
  EXPECT_THAT(layering_faults("base/text.cpp", "#include \"engine/error.h\"\n"),
              ElementsAre(HasSubstr("base/ may not include engine/")));
}

TEST(Layering, TheSchedulerMayIncludeDatabaseAndCluster) {
  EXPECT_THAT(layering_faults("scheduler/daemon/daemon.cpp",
                              "#include \"db/items.h\"\n#include \"slurm/cluster.h\"\n"),
              IsEmpty());
  EXPECT_THAT(layering_faults("scheduler/daemon/daemon.cpp", "#include \"engine/io/mrc.h\"\n"),
              ElementsAre(HasSubstr("scheduler/daemon/ may not include engine/io/")));
}

TEST(Layering, OneFileAloneKnowsTheKindsOfCluster) {
  const std::string include = "#include \"slurm/rest/rest_cluster.h\"\n";
  EXPECT_THAT(layering_faults("scheduler/daemon/make_cluster.cpp", include), IsEmpty());
  EXPECT_THAT(layering_faults("scheduler/daemon/daemon.cpp", include),
              ElementsAre(HasSubstr("scheduler/daemon/ may not include slurm/rest/")));
  EXPECT_THAT(layering_faults("slurm/commands/cli_cluster.cpp", include),
              ElementsAre(HasSubstr("slurm/commands/ may not include slurm/rest/")));
}

TEST(Layering, AMainMayIncludeEveryRoomOfItsFolder) {
  EXPECT_THAT(
      layering_faults("engine/margay_engine.cpp", "#include \"engine/commands/commands.h\"\n"),
      IsEmpty());
  EXPECT_THAT(
      layering_faults("engine/error.h", "#pragma once\n#include \"engine/commands/commands.h\"\n"),
      ElementsAre(HasSubstr("engine/ may not include engine/commands/")));
}

TEST(Layering, AFileOutsideTheRoomsIsNamed) {
  EXPECT_THAT(layering_faults("engine/helpers/things.cpp", ""),
              ElementsAre(HasSubstr("not in one of our rooms")));
}

TEST(Layering, ACircleIsNamedOnceAlsoThroughABody) {
  EXPECT_THAT(include_circles({{"db/a.h", "#include \"db/b.h\"\n"},
                               {"db/b.h", ""},
                               {"db/b.cpp", "#include \"db/b.h\"\n#include \"db/c.h\"\n"},
                               {"db/c.h", "#include \"db/a.h\"\n"}}),
              ElementsAre("db/a -> db/b -> db/c -> db/a"));
  EXPECT_THAT(include_circles({{"db/a.h", "#include \"db/b.h\"\n"},
                               {"db/a.cpp", "#include \"db/a.h\"\n#include \"db/b.h\"\n"},
                               {"db/b.h", "#include <string>\n"}}),
              IsEmpty());
}

TEST(Layering, NothingIncludesTheTests) {
  EXPECT_THAT(layering_faults("engine/io/mrc.cpp", "#include \"tests/require.h\"\n"),
              ElementsAre(HasSubstr("engine/io/ may not include tests/")));
}

TEST(Layering, IncludesStartAtTheRoot) {
  EXPECT_THAT(layering_faults("engine/io/mrc.cpp", "#include \"mrc.h\"\n"),
              ElementsAre(HasSubstr("includes start at the root")));
  EXPECT_THAT(layering_faults("engine/io/mrc.cpp", "#include \"../engine/io/mrc.h\"\n"),
              ElementsAre(HasSubstr("includes start at the root")));
  EXPECT_THAT(layering_faults("engine/io/mrc.cpp", "#include <engine/io/mrc.h>\n"),
              ElementsAre(HasSubstr("with quotes")));
}

TEST(Layering, AThirdPartyHeaderStaysInItsOnePlace) {
  EXPECT_THAT(layering_faults("db/sqlite.cpp", "#include <sqlite3.h>\n"), IsEmpty());
  EXPECT_THAT(layering_faults("db/items.cpp", "#include <sqlite3.h>\n"),
              ElementsAre(HasSubstr("belongs elsewhere")));
  EXPECT_THAT(layering_faults("engine/search/search.cpp", "#include <fftw3.h>\n"),
              ElementsAre(HasSubstr("belongs elsewhere")));
  EXPECT_THAT(layering_faults("scheduler/policy/policy.cpp", "#include \"base/json.h\"\n"),
              ElementsAre(HasSubstr("belongs elsewhere")));
  EXPECT_THAT(layering_faults("scheduler/api/service.cpp", "#include \"base/json.h\"\n"),
              IsEmpty());
  EXPECT_THAT(layering_faults("scheduler/api/service.cpp", "#include <nlohmann/json.hpp>\n"),
              ElementsAre(HasSubstr("belongs elsewhere")));
}

TEST(Layering, AnUnknownLibraryNeedsAPlaceFirst) {
  EXPECT_THAT(layering_faults("engine/search/search.cpp", "#include <boost/asio.hpp>\n"),
              ElementsAre(HasSubstr("unknown header")));
  EXPECT_THAT(
      layering_faults("engine/search/search.cpp", "#include <vector>\n#include <unistd.h>\n"),
      IsEmpty());
}

TEST(Layering, AHeaderIsReadOnce) {
  EXPECT_THAT(layering_faults("engine/io/mrc.h", "#include <vector>\n"),
              ElementsAre(HasSubstr("#pragma once")));
}

TEST(Layering, WhatIsCompiledForEachInstructionSetIsReadAsOften) {
  EXPECT_THAT(layering_faults("engine/cpu/fused/sums-inl.h", "#include <hwy/highway.h>\n"),
              IsEmpty());
}

}  // namespace
}  // namespace tests

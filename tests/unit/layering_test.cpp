#include "tests/unit/layering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace tests {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const fs::path kRoot = MARGAY_SOURCE_DIR;
const std::vector<std::string> kFolders = {"engine", "db", "slurm", "scheduler", "tests", "bench"};

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

TEST(Layering, TheEngineMayNotIncludeTheDatabase) {
  EXPECT_THAT(layering_faults("engine/peaks.cpp", "#include \"db/records.h\"\n"),
              ElementsAre(HasSubstr("engine/ may not include db/")));
}

TEST(Layering, TheDatabaseMayNotIncludeTheScheduler) {
  EXPECT_THAT(layering_faults("db/items.cpp", "#  include \"scheduler/policy.h\" // why\n"),
              ElementsAre(HasSubstr("db/ may not include scheduler/")));
}

TEST(Layering, TheSchedulerMayIncludeDatabaseAndCluster) {
  EXPECT_THAT(layering_faults("scheduler/daemon.cpp",
                              "#include \"db/items.h\"\n#include \"slurm/cluster.h\"\n"),
              IsEmpty());
  EXPECT_THAT(layering_faults("scheduler/daemon.cpp", "#include \"engine/mrc.h\"\n"),
              ElementsAre(HasSubstr("scheduler/ may not include engine/")));
}

TEST(Layering, NothingIncludesTheTests) {
  EXPECT_THAT(layering_faults("engine/mrc.cpp", "#include \"tests/require.h\"\n"),
              ElementsAre(HasSubstr("engine/ may not include tests/")));
}

TEST(Layering, IncludesStartAtTheRoot) {
  EXPECT_THAT(layering_faults("engine/mrc.cpp", "#include \"mrc.h\"\n"),
              ElementsAre(HasSubstr("includes start at the root")));
  EXPECT_THAT(layering_faults("engine/mrc.cpp", "#include \"../engine/mrc.h\"\n"),
              ElementsAre(HasSubstr("includes start at the root")));
  EXPECT_THAT(layering_faults("engine/mrc.cpp", "#include <engine/mrc.h>\n"),
              ElementsAre(HasSubstr("with quotes")));
}

TEST(Layering, AThirdPartyHeaderStaysInItsOnePlace) {
  EXPECT_THAT(layering_faults("db/sqlite.cpp", "#include <sqlite3.h>\n"), IsEmpty());
  EXPECT_THAT(layering_faults("db/items.cpp", "#include <sqlite3.h>\n"),
              ElementsAre(HasSubstr("belongs elsewhere")));
  EXPECT_THAT(layering_faults("engine/search.cpp", "#include <fftw3.h>\n"),
              ElementsAre(HasSubstr("belongs elsewhere")));
  EXPECT_THAT(layering_faults("scheduler/policy.cpp", "#include <nlohmann/json.hpp>\n"),
              ElementsAre(HasSubstr("belongs elsewhere")));
}

TEST(Layering, AnUnknownLibraryNeedsAPlaceFirst) {
  EXPECT_THAT(layering_faults("engine/search.cpp", "#include <boost/asio.hpp>\n"),
              ElementsAre(HasSubstr("unknown header")));
  EXPECT_THAT(layering_faults("engine/search.cpp", "#include <vector>\n#include <unistd.h>\n"),
              IsEmpty());
}

TEST(Layering, AHeaderIsReadOnce) {
  EXPECT_THAT(layering_faults("engine/mrc.h", "#include <vector>\n"),
              ElementsAre(HasSubstr("#pragma once")));
}

}  // namespace
}  // namespace tests

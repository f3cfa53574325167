// Ranks that the real mpirun of Open MPI starts. A long test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/integration/rank_group.h"
#include "tests/require.h"

namespace tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Mpirun : public testing::Test {
 protected:
  void SetUp() override {
    if (run_program({"/usr/bin/env", "mpirun", "--version"}, "/").exit_code != 0) {
      MARGAY_SKIP_FOR_WANT_OF("mpirun", "mpirun is not installed (openmpi-bin)");
    }
    search_.sections["orientation_search_config"] = "{psi_step: 6, theta_step: 12, symmetry: C1}";
  }

  // Three ranks; each runs the shell lines `first`.
  Finished run(const std::string& first = "") const {
    search_.write_config();
    return run_program({"/usr/bin/env", "mpirun", "--allow-run-as-root", "--oversubscribe", "-n",
                        "3", "bash", "-c", first + "\nexec \"$@\"", "rank", engine_program(),
                        "match", "search.yaml", "--backend", "cpu", "--threads", "1"},
                       search_.folder());
  }

  SmallSearch search_;
};

TEST_F(Mpirun, StartsRanksThatGiveTheMapsOfOne) {
  const Finished f = run();
  EXPECT_EQ(f.exit_code, 0) << f.error;
  EXPECT_THAT(text_of(search_.file("out/manifest.json")), HasSubstr("\"rank\": 2"));
  const std::vector<std::string> maps = map_pixels(search_);
  EXPECT_FALSE(maps.front().empty());
  ASSERT_EQ(search_.match({"--overwrite"}).exit_code, 0);
  EXPECT_TRUE(map_pixels(search_) == maps) << "the maps differ";
}

TEST_F(Mpirun, TellsOnceWhatIsWrongWithTheInput) {
  search_.sections["micrograph_path"] = "missing.mrc";
  const Finished f = run();
  EXPECT_EQ(f.exit_code, 64);
  const size_t named = f.error.find("missing.mrc");
  ASSERT_NE(named, std::string::npos) << f.error;
  EXPECT_EQ(f.error.find("missing.mrc", named + 1), std::string::npos) << f.error;
}

TEST_F(Mpirun, EndsAllWithTheErrorOfTheRankThatFailsFirst) {
  // The others wait for it, for a minute if it were for them.
  const Finished f =
      run("[ $OMPI_COMM_WORLD_RANK != 1 ] || export OMPI_COMM_WORLD_LOCAL_RANK=none");
  EXPECT_EQ(f.exit_code, 2);
  EXPECT_THAT(f.error, AllOf(HasSubstr("OMPI_COMM_WORLD_LOCAL_RANK: expected a whole number"),
                             HasSubstr("got 'none'")));
}

}  // namespace
}  // namespace tests

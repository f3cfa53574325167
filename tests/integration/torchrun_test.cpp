// Ranks that the real torchrun starts, on one host and on two. A long test.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/integration/rank_group.h"
#include "tests/require.h"

namespace tests {
namespace {

class Torchrun : public testing::Test {
 protected:
  void SetUp() override {
    if (run_program({"/usr/bin/env", "torchrun", "--help"}, "/").exit_code != 0) {
      MARGAY_SKIP_FOR_WANT_OF("torchrun", "torchrun is not installed (python3-torch)");
    }
    for (SmallSearch* search : {&reference_, &search_}) {
      search->sections["orientation_search_config"] = "{psi_step: 6, theta_step: 12, symmetry: C1}";
    }
    ASSERT_EQ(reference_.match().exit_code, 0);
    search_.write_config();
  }

  std::vector<std::string> command(std::vector<std::string> options) const {
    // PyTorch 1.13 under Python 3.11 fails unless options say where the ranks' output goes.
    std::vector<std::string> all{
        "/usr/bin/env", "torchrun",          "--no_python", "-r", "1", "-t", "1",
        "--log_dir",    search_.file("logs")};
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(),
               {engine_program(), "match", "search.yaml", "--backend", "cpu", "--threads", "1"});
    return all;
  }

  void expect_same_maps() const {
    EXPECT_TRUE(map_pixels(search_) == map_pixels(reference_)) << "the maps differ";
  }

  SmallSearch reference_, search_;
};

TEST_F(Torchrun, StartsRanksOnThisHost) {
  const Finished f = run_program(command({"--nproc_per_node", "3"}), search_.folder());
  EXPECT_EQ(f.exit_code, 0) << f.error;
  expect_same_maps();
}

TEST_F(Torchrun, StartsRanksByTwoAgentsThatMeet) {
  const std::vector<std::string> meeting{"--nnodes",         "2",
                                         "--nproc_per_node", "2",
                                         "--rdzv_backend",   "c10d",
                                         "--rdzv_id",        "margay",
                                         "--rdzv_endpoint",  "127.0.0.1:29517"};
  std::vector<std::unique_ptr<Program>> agents;
  for (int agent = 0; agent < 2; ++agent) {
    agents.push_back(std::make_unique<Program>(command(meeting), search_.folder()));
  }
  for (const auto& agent : agents) {
    const Finished f = agent->wait();
    EXPECT_EQ(f.exit_code, 0) << f.error;
  }
  expect_same_maps();
}

TEST_F(Torchrun, SaysThatARankFailed) {
  search_.sections["micrograph_path"] = "missing.mrc";
  search_.write_config();
  const Finished f = run_program(command({"--nproc_per_node", "2"}), search_.folder());
  EXPECT_NE(f.exit_code, 0);
  EXPECT_NE(f.error.find("missing.mrc"), std::string::npos) << f.error;
}

}  // namespace
}  // namespace tests

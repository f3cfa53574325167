// On a real Slurm: an item is promoted while its search runs on one GPU, and resumes from its
// checkpoint with a rank for each GPU of two nodes; or one of these ranks fails.
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <string>

#include "tests/integration/slurm/slurm_queue.h"
#include "tests/require.h"

namespace tests {
namespace {

// What each rank knows of itself while it probes its device.
constexpr const char* kTellRank =
    "echo \"$SLURM_JOB_NUM_NODES ${RANK:-$SLURM_PROCID} $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES\" "
    ">> \"$home/ranks\"\n";

// On one node it only waits to be asked for a checkpoint.
constexpr const char* kStopsUnlessWide = R"(if [ "$SLURM_JOB_NUM_NODES" = 1 ]; then
  trap 'echo units > "$folder/checkpoint.mgc"; exit 85' USR1
  echo "listens $token" >> "$home/effects"
  while :; do sleep 0.1 || :; done
fi)";

class Promotion : public ::testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    if (!SlurmBed::missing().empty()) return;
    bed_ = std::make_unique<SlurmBed>(BedOptions{.nodes = 2, .gpus = 2, .accounting = false});
  }
  static void TearDownTestSuite() { bed_.reset(); }
  void SetUp() override {
    if (!bed_) MARGAY_SKIP_FOR_WANT_OF("slurm", SlurmBed::missing());
    queue_ = std::make_unique<SlurmQueue>(
        *bed_, SiteOptions{.slurm = "  urgent_shape: nodes\n  nodes: 2\n  gpus_per_node: 2\n"
                                    "  launcher: " +
                                    GetParam() + "\n"});
    std::ofstream(queue_->folder() / "selftest") << kTellRank;
    queue_->let_search_do(kStopsUnlessWide);
    queue_->start_daemon();
    queue_->add_template();
  }
  void TearDown() override {
    if (!HasFailure() || !queue_) return;
    std::cout << queue_->item(1).dump(1) << queue_->margay({"logs", "1"}).output
              << queue_->kill_daemon(SIGKILL).error;
  }

  // Rank, node and device of every rank of the job with that many nodes.
  std::set<std::string> ranks_on(int nodes) const {
    std::set<std::string> ranks;
    std::istringstream lines(text_of(queue_->folder() / "ranks"));
    for (std::string line; std::getline(lines, line);) {
      const std::string start = std::to_string(nodes) + " ";
      if (line.starts_with(start)) ranks.insert(line.substr(start.size()));
    }
    return ranks;
  }

  static std::unique_ptr<SlurmBed> bed_;
  std::unique_ptr<SlurmQueue> queue_;
};

std::unique_ptr<SlurmBed> Promotion::bed_;

INSTANTIATE_TEST_SUITE_P(Launcher, Promotion, ::testing::Values("task", "node"),
                         [](const auto& launcher) { return launcher.param; });

// The others end too as soon as it is gone.
TEST_P(Promotion, OfRanksOnTwoNodesTheHostIsNamedOfTheOneThatTheOthersEndFor) {
  std::ofstream(queue_->folder() / "selftest")
      << "if [ \"${RANK:-$SLURM_PROCID}\" = 3 ]; then touch \"$home/gone\"; kill -SEGV $$; fi\n"
         "until [ -e \"$home/gone\" ]; do sleep 0.01; done\nexit 70\n";
  const int item = queue_->enqueue({"--priority", "urgent"});
  ASSERT_TRUE(
      SlurmQueue::becomes_true([&] { return queue_->item(item).at("attempts").size() > 1; }));
  const nlohmann::json attempt = queue_->item(item).at("attempts").at(0);
  EXPECT_EQ(attempt.at("cause"), "hardware");
  EXPECT_EQ(attempt.at("host"), "n[01-02]");
  const std::string folder = attempt.at("directory");
  EXPECT_EQ(text_of(folder + "/failed_host"), "n02\n");
  EXPECT_EQ(text_of(folder + "/faults/first"), "139 n02\n");
}

TEST_P(Promotion, ASearchGoesOnFromItsCheckpointOnTwoNodes) {
  const int item = queue_->enqueue();
  // The daemon cancels a job that it has not seen running, and nothing of it is worth a checkpoint.
  ASSERT_TRUE(SlurmQueue::becomes_true([&] {
    return queue_->effects("listens").contains(item) &&
           queue_->item(item).at("attempts").at(0).at("state") == "RUNNING";
  }));
  EXPECT_EQ(queue_->margay({"promote", std::to_string(item), "--priority", "urgent"}).exit_code, 0);
  EXPECT_TRUE(SlurmQueue::becomes_true([&] { return queue_->state_of(item) == "DONE"; }));
  const nlohmann::json attempts = queue_->item(item).at("attempts");
  ASSERT_EQ(attempts.size(), 2u);
  EXPECT_EQ(attempts.at(0).at("state"), "CHECKPOINTED");
  EXPECT_EQ(attempts.at(0).at("shape"), "1 GPU");
  EXPECT_EQ(attempts.at(1).at("state"), "DONE");
  EXPECT_EQ(attempts.at(1).at("shape"), "2 nodes (4 GPUs)");
  EXPECT_EQ(queue_->effects("resumed"), (std::map<int, int>{{item, 1}}));
  EXPECT_EQ(queue_->effects("finished"), (std::map<int, int>{{item, 1}}));
  EXPECT_EQ(ranks_on(1).size(), 1u);
  EXPECT_EQ(ranks_on(2), (std::set<std::string>{"0 n01 0", "1 n01 1", "2 n02 0", "3 n02 1"}));
}

}  // namespace
}  // namespace tests

// Submissions that the cluster refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/daemon/slurm_submit_fixture.h"

namespace scheduler {
namespace {

using db::ItemState;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using Fault = tests::FakeCluster::Fault;

TEST_F(DaemonSlurmSubmitTest, ABusyClusterIsLeftAloneForAWhileAndNothingIsCounted) {
  cluster_.faults = {Fault::kReject};
  cluster_.refusal = slurm::Refusal::kBusy;
  cluster_.refusal_message = "Job violates accounting/QOS policy (job submit limit)";
  const auto first = enqueue("a.mrc").id;
  const auto second = enqueue("b.mrc").id;
  ticks(20);
  EXPECT_THAT(cluster_.requests, SizeIs(1));
  EXPECT_THAT(daemon_->status().pause_reason, HasSubstr("job submit limit"));
  EXPECT_EQ(item(first).state, ItemState::kQueued);
  EXPECT_EQ(attempt(first).cause, "busy");
  clock_.pass(seconds(60));
  ticks(2);
  EXPECT_EQ(daemon_->status().pause_reason, "");
  EXPECT_EQ(item(first).state, ItemState::kActive);
  EXPECT_EQ(item(second).state, ItemState::kActive);
}

TEST_F(DaemonSlurmSubmitTest,
       ABadConfigurationPausesSubmissionsIsLoggedOnceAndRetriedEverLessOften) {
  cluster_.faults.assign(1000, Fault::kReject);
  cluster_.refusal_message = "Invalid qos specification";
  const auto ids = enqueue_many(3);
  std::vector<int> tried_at;
  for (int second = 0; second < 3600; ++second) {
    const size_t before = cluster_.requests.size();
    ticks(1);
    if (cluster_.requests.size() > before) tried_at.push_back(second);
  }
  EXPECT_THAT(tried_at, ElementsAre(0, 60, 180, 420, 900, 1500, 2100, 2700, 3300));
  EXPECT_THAT(cluster_.requests, SizeIs(9)) << "one at a time";
  EXPECT_EQ(count_logged("Invalid qos specification"), 2) << "the attempt, and the circuit breaker";
  EXPECT_THAT(daemon_->status().pause_reason, HasSubstr("Invalid qos specification"));
  for (const auto id : ids) EXPECT_EQ(item(id).state, ItemState::kQueued);
}

TEST_F(DaemonSlurmSubmitTest, AfterARefusalOneJobTriesAndTheOthersFollowIt) {
  cluster_.faults = {Fault::kReject};
  const auto ids = enqueue_many(4);
  ticks(1);
  EXPECT_THAT(cluster_.requests, SizeIs(1));
  clock_.pass(seconds(60));
  ticks(1);
  EXPECT_THAT(cluster_.requests, SizeIs(2));
  EXPECT_THAT(daemon_->status().pause_reason, HasSubstr("no such partition")) << "not proven yet";
  ticks(1);
  EXPECT_THAT(cluster_.requests, SizeIs(5));
  EXPECT_EQ(daemon_->status().pause_reason, "");
}

TEST_F(DaemonSlurmSubmitTest, ARefusedConfigurationIsTriedAtOnceWhenTheClusterIsBack) {
  cluster_.faults = {Fault::kReject};
  cluster_.refusal_message = "the token has expired";
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  cluster_.complete = false;
  ticks(2);
  EXPECT_THAT(cluster_.requests, SizeIs(1));
  cluster_.complete = true;
  ticks(1);
  EXPECT_THAT(cluster_.requests, SizeIs(2));
  EXPECT_EQ(item(id).state, ItemState::kActive);
}

TEST_F(DaemonSlurmSubmitTest, OptionsThatTheClusterCannotGiveFailTheirItemAlone) {
  const auto greedy = enqueue("a.mrc").id;
  const auto modest = enqueue("b.mrc").id;
  give_options(greedy, {{"nodes", "400"}});
  cluster_.faults = {Fault::kReject};
  cluster_.refusal = slurm::Refusal::kJob;
  cluster_.refusal_message = "More nodes requested than available";
  ticks(2);
  EXPECT_EQ(item(greedy).state, ItemState::kFailed);
  EXPECT_EQ(attempt(greedy).cause, "options");
  EXPECT_THAT(item(greedy).reason, HasSubstr("More nodes requested than available"));
  EXPECT_EQ(item(modest).state, ItemState::kActive);
  EXPECT_EQ(daemon_->status().pause_reason, "");
}

TEST_F(DaemonSlurmSubmitTest, OptionsThatContradictEachOtherFailTheirItemBeforeItIsSubmitted) {
  const auto id = enqueue("a.mrc").id;
  give_options(id, {{"gpus-per-task", "1"}});
  const auto other = enqueue("b.mrc").id;
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kFailed);
  EXPECT_THAT(item(id).reason, HasSubstr("gpus-per-task"))
      << daemon_->status().pause_reason << daemon_->status().problem;
  EXPECT_EQ(item(other).state, ItemState::kActive);
}

}  // namespace
}  // namespace scheduler

// Urgent items get several nodes, and one that was promoted while it runs stops and resumes there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/commands/read_snapshot.h"
#include "tests/unit/scheduler/daemon/slurm_fixture.h"

namespace scheduler {
namespace {

using db::AttemptState;
using db::ItemState;
using db::Priority;
using slurm::JobState;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

class DaemonSlurmPromoteTest : public SlurmFixture {
 protected:
  DaemonSlurmPromoteTest() {
    config_.slurm.urgent_shape = Shape::kNodes;
    restart();
  }

  int64_t enqueue_and_run() {
    const auto id = enqueue("a.mrc").id;
    ticks(2);
    return id;
  }
  void promote(int64_t id) { commands_->promote(user_, id, Priority::kUrgent); }
  std::string checkpoint(int64_t id, int number) {
    return attempts(id).at(static_cast<size_t>(number - 1)).directory + "/checkpoint.mgc";
  }
  // Its job writes a checkpoint and ends.
  void stop(int64_t id) {
    std::ofstream(attempt(id).directory + "/checkpoint.mgc") << "units";
    std::ofstream(attempt(id).directory + "/progress.json") << R"({"done": 10})";
    fail(attempt(id), 85);
  }
  // In the list.
  std::string listed(int64_t id) { return commands_->explain({item(id)}).front(); }
};

TEST_F(DaemonSlurmPromoteTest, AnUrgentItemGetsOneJobOfSeveralNodesAndANormalOneADevice) {
  const auto urgent = enqueue("a.mrc", Priority::kUrgent).id;
  const auto normal = enqueue("b.mrc").id;
  ticks(1);
  EXPECT_EQ(attempt(urgent).shape, "4 nodes (16 GPUs)");
  EXPECT_EQ(attempt(urgent).gpus, 16);
  EXPECT_THAT(attempt(urgent).script, HasSubstr("#SBATCH --nodes=4\n"));
  EXPECT_THAT(attempt(urgent).explanation, HasSubstr("so it gets 4 nodes (16 GPUs)"));
  EXPECT_THAT(cluster_.released, ElementsAre(attempt(urgent).job_id)) << "submitted held";
  EXPECT_EQ(attempt(normal).shape, "1 GPU");
  EXPECT_EQ(attempt(normal).gpus, 1);
  EXPECT_THAT(attempt(normal).script, HasSubstr("#SBATCH --nodes=1\n"));
}

TEST_F(DaemonSlurmPromoteTest, ARunningItemThatIsPromotedStopsAndGoesOnWide) {
  const auto id = enqueue_and_run();
  promote(id);
  EXPECT_THAT(explained(id), testing::EndsWith("its priority was changed: the next plan is made "
                                               "within 1 second"));
  EXPECT_EQ(listed(id), explained(id));
  ticks(1);
  EXPECT_THAT(cluster_.signalled, ElementsAre(attempt(id).job_id));
  EXPECT_THAT(cluster_.cancelled, IsEmpty());
  EXPECT_THAT(explained(id), HasSubstr("stopping with a checkpoint, to resume "
                                       "with 4 nodes (16 GPUs)"));
  EXPECT_EQ(listed(id), explained(id));
  EXPECT_EQ(item(id).state, ItemState::kActive);
  stop(id);
  ticks(1);
  ASSERT_THAT(attempts(id), SizeIs(2));
  EXPECT_EQ(attempts(id)[0].state, AttemptState::kCheckpointed);
  EXPECT_EQ(attempts(id)[0].cause, "widened");
  EXPECT_EQ(attempt(id).shape, "4 nodes (16 GPUs)");
  EXPECT_EQ(attempt(id).resume_from, checkpoint(id, 1));
  EXPECT_THAT(attempt(id).script, HasSubstr("--resume " + checkpoint(id, 1) + " "));
  EXPECT_THAT(explained(id), HasSubstr("resumes from its checkpoint"));
  ticks(1);
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
  finish(attempt(id));
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kDone);
  EXPECT_THAT(cluster_.requests, SizeIs(2));
}

TEST_F(DaemonSlurmPromoteTest, TheItemsOfOtherClassesStayWhereTheyAre) {
  const auto id = enqueue_and_run();
  commands_->promote(user_, id, Priority::kHigh);
  ticks(5);
  EXPECT_THAT(cluster_.signalled, IsEmpty());
  config_.slurm.urgent_shape.reset();
  restart();
  promote(id);
  ticks(5);
  EXPECT_THAT(cluster_.signalled, IsEmpty()) << "urgent ones get no other shape here";
}

TEST_F(DaemonSlurmPromoteTest, AFullClusterIsNoReasonToWaitForAPlaceIsGivenUp) {
  config_.slurm.max_jobs = 1;
  restart();
  const auto id = enqueue_and_run();
  promote(id);
  ticks(1);
  EXPECT_THAT(cluster_.signalled, SizeIs(1));
}

TEST_F(DaemonSlurmPromoteTest, TheRequestIsRepeatedUntilTheJobReceivesIt) {
  const auto id = enqueue_and_run();
  promote(id);
  ticks(3);
  EXPECT_THAT(cluster_.signalled, SizeIs(3)) << "a script that prepares its search has no step";
  for (int i = 0; i < 3; ++i) tick_between_snapshots();
  EXPECT_THAT(cluster_.signalled, SizeIs(3));
  job_of(id).state = JobState::kCompleting;
  ticks(2);
  EXPECT_THAT(cluster_.signalled, SizeIs(3));
  EXPECT_EQ(count_logged("stopping with a checkpoint"), 1);
}

TEST_F(DaemonSlurmPromoteTest, AJobThatDoesNotStopIsCancelledAndGoesOnFromItsLastCheckpoint) {
  const auto id = enqueue_and_run();
  promote(id);
  ticks(2);
  std::ofstream(attempt(id).directory + "/checkpoint.mgc") << "units";
  clock_.pass(seconds(300));
  ticks(1);
  EXPECT_THAT(cluster_.cancelled, ElementsAre(attempt(id).job_id));
  cluster_.end(attempt(id).token, JobState::kCancelled, std::nullopt);
  ticks(1);
  ASSERT_THAT(attempts(id), SizeIs(2));
  EXPECT_EQ(attempts(id)[0].state, AttemptState::kCancelled);
  EXPECT_EQ(attempt(id).resume_from, checkpoint(id, 1));
}

TEST_F(DaemonSlurmPromoteTest, AJobThatWaitsStillIsCancelledAndSubmittedWide) {
  cluster_.first_state = JobState::kPending;
  const auto id = enqueue_and_run();
  promote(id);
  ticks(1);
  EXPECT_THAT(cluster_.signalled, IsEmpty());
  EXPECT_THAT(cluster_.cancelled, ElementsAre(attempt(id).job_id));
  cluster_.end(attempt(id).token, JobState::kCancelled, std::nullopt);
  ticks(1);
  ASSERT_THAT(attempts(id), SizeIs(2));
  EXPECT_EQ(attempts(id)[0].state, AttemptState::kCancelled);
  EXPECT_EQ(attempt(id).shape, "4 nodes (16 GPUs)");
  EXPECT_EQ(attempt(id).resume_from, "");
}

TEST_F(DaemonSlurmPromoteTest, AJobThatFinishesBeforeItReceivesTheRequestIsDone) {
  const auto id = enqueue_and_run();
  promote(id);
  ticks(1);
  finish(attempt(id));
  ticks(2);
  EXPECT_EQ(item(id).state, ItemState::kDone);
  EXPECT_THAT(attempts(id), SizeIs(1));
}

TEST_F(DaemonSlurmPromoteTest, AStopThatLeavesNoCheckpointStartsAnewAtOnce) {
  const auto id = enqueue_and_run();
  promote(id);
  ticks(1);
  fail(attempt(id), 85);
  ticks(1);
  ASSERT_THAT(attempts(id), SizeIs(2));
  EXPECT_EQ(attempt(id).resume_from, "");
  EXPECT_EQ(attempt(id).shape, "4 nodes (16 GPUs)");
}

TEST_F(DaemonSlurmPromoteTest, OneThatIsTakenBackGoesOnWhereItWasWithTheShapeOfItsClass) {
  const auto id = enqueue_and_run();
  promote(id);
  ticks(1);
  commands_->promote(user_, id, Priority::kLow);
  EXPECT_THAT(explained(id), HasSubstr("resume with 1 GPU"));
  stop(id);
  ticks(1);
  ASSERT_THAT(attempts(id), SizeIs(2));
  EXPECT_EQ(attempt(id).shape, "1 GPU");
  EXPECT_EQ(attempt(id).resume_from, checkpoint(id, 1));
}

TEST_F(DaemonSlurmPromoteTest, ACancelGoesBeforeAPromotion) {
  const auto id = enqueue_and_run();
  promote(id);
  ticks(1);
  commands_->cancel(user_, id);
  EXPECT_THROW(promote(id), Conflict);
  ticks(1);
  EXPECT_THAT(cluster_.cancelled, SizeIs(1));
  fail(attempt(id), 85);
  ticks(2);
  EXPECT_EQ(item(id).state, ItemState::kCancelled);
  EXPECT_THAT(attempts(id), SizeIs(1));
}

TEST_F(DaemonSlurmPromoteTest, WhatCouldNotBeSubmittedWideIsNotStopped) {
  const auto id = enqueue_and_run();
  give_options(id, {{"ntasks", "1"}});  // given before the site's configuration was changed
  promote(id);
  ticks(3);
  EXPECT_THAT(cluster_.signalled, IsEmpty());
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
  EXPECT_EQ(daemon_->status().problem, "");
  EXPECT_EQ(count_logged("--ntasks=1"), 1);
  EXPECT_THAT(explained(id), AllOf(HasSubstr("urgent items get 4 nodes (16 GPUs)"),
                                   HasSubstr("its job is not stopped"), HasSubstr("--ntasks=1")));
  EXPECT_EQ(listed(id), explained(id));
  give_options(id, {});
  ticks(1);
  EXPECT_THAT(cluster_.signalled, SizeIs(1));
}

TEST_F(DaemonSlurmPromoteTest, AJobThatTheClusterDoesNotListIsNotSaidToBeStopped) {
  const auto id = enqueue_and_run();
  promote(id);
  cluster_.jobs[0].job_id = "99999";
  ticks(3);
  EXPECT_THAT(cluster_.signalled, IsEmpty());
  EXPECT_EQ(daemon_->status().problem, "");
  EXPECT_EQ(count_logged("not in the cluster's last list of jobs"), 1);
  EXPECT_THAT(explained(id),
              HasSubstr("its job is not stopped for that: it is not in the cluster's "
                        "last list of jobs"));
  cluster_.jobs[0].job_id = attempt(id).job_id;
  ticks(1);
  EXPECT_THAT(cluster_.signalled, SizeIs(1));
}

TEST_F(DaemonSlurmPromoteTest, AnItemWhoseOwnOptionsSayItsWidthIsExplainedByWhatItGot) {
  const auto id = enqueue("a.mrc", Priority::kLow).id;
  give_options(id, {{"nodes", "3"}});
  cluster_.requests_left = 0;
  ticks(1);
  cluster_.requests_left = 1000;
  EXPECT_THAT(explained(id),
              AllOf(HasSubstr("so it gets what its own options ask for"), Not(HasSubstr("1 GPU"))));
  ticks(2);
  EXPECT_EQ(attempt(id).shape, "3 nodes (3 GPUs)");
  EXPECT_THAT(explained(id),
              AllOf(StartsWith("runs with 3 nodes (3 GPUs) on node1; decided at its start: "),
                    EndsWith("what its own options ask for: 3 nodes (3 GPUs)")));
  EXPECT_EQ(listed(id), explained(id));
  promote(id);
  ticks(2);
  EXPECT_THAT(cluster_.signalled, IsEmpty());
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
}

TEST_F(DaemonSlurmPromoteTest, AWideSearchThatIsDemotedIsExplainedByWhatWasDecidedAtItsStart) {
  const auto id = enqueue("a.mrc", Priority::kUrgent).id;
  ticks(2);
  commands_->promote(user_, id, Priority::kLow);
  ticks(1);
  EXPECT_THAT(explained(id),
              AllOf(StartsWith("runs with 4 nodes (16 GPUs) on node1; decided at its "
                               "start: only ready item of class urgent"),
                    EndsWith("since it is urgent")));
  EXPECT_EQ(listed(id), explained(id));
  finish(attempt(id));
  ticks(1);
  EXPECT_THAT(explained(id),
              AllOf(HasSubstr("found "), HasSubstr("; attempt 1, with 4 nodes (16 GPUs), "
                                                   "on node1")));
}

TEST_F(DaemonSlurmPromoteTest, WithoutAWordOfTheClusterNothingIsStopped) {
  const auto id = enqueue_and_run();
  promote(id);
  cluster_.complete = false;
  ticks(3);
  EXPECT_THAT(cluster_.signalled, IsEmpty());
  cluster_.complete = true;
  cluster_.jobs[0].job_id = "99999";
  ticks(1);
  EXPECT_THAT(cluster_.signalled, IsEmpty()) << "a job of another number is not its";
}

TEST_F(DaemonSlurmPromoteTest, AWideJobOfAnOlderWidthThatIsLargeEnoughRunsOn) {
  const auto id = enqueue("a.mrc", Priority::kUrgent).id;
  ticks(2);
  config_.slurm.nodes = 2;
  restart();
  ticks(3);
  EXPECT_THAT(cluster_.signalled, IsEmpty());
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
}

TEST_F(DaemonSlurmPromoteTest, APreemptedUrgentItemGoesOnWideFromItsCheckpoint) {
  const auto id = enqueue("a.mrc", Priority::kUrgent).id;
  ticks(2);
  std::ofstream(attempt(id).directory + "/checkpoint.mgc") << "units";
  cluster_.end(attempt(id).token, JobState::kPreempted, std::nullopt);
  ticks(2);
  ASSERT_THAT(attempts(id), SizeIs(2));
  EXPECT_EQ(attempt(id).shape, "4 nodes (16 GPUs)");
  EXPECT_EQ(attempt(id).resume_from, checkpoint(id, 1));
}

}  // namespace
}  // namespace scheduler

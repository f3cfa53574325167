#include "scheduler/daemon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <set>
#include <thread>

#include "tests/unit/scheduler/daemon_fixture.h"

namespace scheduler {
namespace {

using db::AttemptState;
using db::ItemState;
using db::Priority;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using Fault = tests::FakeCluster::Fault;

class DaemonTest : public DaemonFixture {};

TEST_F(DaemonTest, AnItemRunsAndItsResultIsStored) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  EXPECT_EQ(item(id).state, ItemState::kActive);
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
  EXPECT_EQ(attempt(id).host, "node1");
  finish(attempt(id));
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kDone);
  ASSERT_TRUE(result(id));
  EXPECT_EQ(result(id)->peaks, 6);
  EXPECT_EQ(result(id)->best_z, 9.25);
  EXPECT_EQ(result(id)->seconds, 7.5);
  EXPECT_EQ(result(id)->attempt_id, attempt(id).id);
}

TEST_F(DaemonTest, TheAttemptIsOnTheDiskBeforeItIsSubmitted) {
  const auto id = enqueue("it's a b.mrc").id;
  ticks(1);
  const auto first = attempt(id);
  ASSERT_THAT(cluster_.requests, SizeIs(1));
  const auto& request = cluster_.requests[0];
  EXPECT_EQ(request.name, first.token);
  EXPECT_EQ(request.script, first.script);
  EXPECT_EQ(request.directory, first.directory);
  EXPECT_EQ(tests::text_of(first.directory + "/job.sh"), first.script);
  EXPECT_EQ(first.token, "margay-" + database_->instance() + "-" + std::to_string(id) + "-a1");
  EXPECT_EQ(tests::text_of(config_.jobs() + "/" + std::to_string(id) + "/current"), "1\n");
  EXPECT_THAT(tests::text_of(first.directory + "/config.yaml"), HasSubstr("it's a b.mrc"));
  EXPECT_THAT(first.explanation, HasSubstr("only ready item"));
}

TEST_F(DaemonTest, OneSlotRunsOneJobAfterTheOtherUrgentFirst) {
  const auto low = enqueue("a.mrc", Priority::kLow).id;
  const auto urgent = enqueue("b.mrc", Priority::kUrgent).id;
  ticks(3);
  EXPECT_THAT(cluster_.requests, SizeIs(1));
  EXPECT_EQ(item(urgent).state, ItemState::kActive);
  EXPECT_EQ(item(low).state, ItemState::kQueued);
  finish(attempt(urgent));
  ticks(1);
  EXPECT_EQ(item(low).state, ItemState::kActive);
}

TEST_F(DaemonTest, AJobIsSubmittedOnceAlthoughTheAnswerGotLost) {
  cluster_.faults = {Fault::kAcceptAndLoseAnswer};
  const auto id = enqueue("a.mrc").id;
  ticks(20);
  EXPECT_THAT(cluster_.requests, SizeIs(1));
  ASSERT_THAT(attempts(id), SizeIs(1));
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
  EXPECT_EQ(attempt(id).job_id, cluster_.jobs[0].job_id);
  finish(attempt(id));
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kDone);
}

TEST_F(DaemonTest, ALostRequestIsClosedOnlyAfterTheGraceAndTwoCompleteLooks) {
  cluster_.faults = {Fault::kLoseRequest};
  const auto id = enqueue("a.mrc").id;
  ticks(4);  // the grace is 5 s
  EXPECT_EQ(attempt(id).state, AttemptState::kUnknown);
  EXPECT_EQ(cluster_.looks_by_name, 0);
  cluster_.names_can_be_asked = false;
  ticks(10);
  EXPECT_EQ(attempt(id).state, AttemptState::kUnknown) << "not asked is not absent";
  cluster_.names_can_be_asked = true;
  ticks(1);
  EXPECT_EQ(attempt(id).state, AttemptState::kUnknown) << "one look is not enough";
  ticks(1);
  ASSERT_THAT(attempts(id), SizeIs(2));
  EXPECT_EQ(attempts(id)[0].state, AttemptState::kNeverStarted);
  EXPECT_NE(attempts(id)[0].token, attempts(id)[1].token);
}

TEST_F(DaemonTest, AGhostOfAnAttemptThatWasGivenUpIsStopped) {
  cluster_.faults = {Fault::kLoseRequest};
  const auto id = enqueue("a.mrc").id;
  ticks(10);
  ASSERT_EQ(attempts(id)[0].state, AttemptState::kNeverStarted);
  const std::string ghost = cluster_.add(attempts(id)[0].token);
  ticks(1);
  EXPECT_THAT(cluster_.cancelled, Contains(ghost));
  EXPECT_EQ(attempts(id)[0].state, AttemptState::kNeverStarted);
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
}

TEST_F(DaemonTest, OfTwoJobsWithOneNameTheOldestIsKept) {
  cluster_.faults = {Fault::kAcceptAndLoseAnswer};
  const auto id = enqueue("a.mrc").id;
  ticks(1);
  const std::string first = cluster_.jobs[0].job_id;
  const std::string second = cluster_.add(attempt(id).token);
  ticks(1);
  EXPECT_EQ(attempt(id).job_id, first);
  EXPECT_THAT(cluster_.cancelled, Contains(second));
  EXPECT_THAT(cluster_.cancelled, Not(Contains(first)));
}

TEST_F(DaemonTest, JobsOfOthersAreLeftAlone) {
  cluster_.add("somebody-elses-job");
  cluster_.add("margay-otherone-1-a1");
  enqueue("a.mrc");
  ticks(3);
  EXPECT_THAT(cluster_.cancelled, IsEmpty());
  EXPECT_THAT(cluster_.requests, SizeIs(1)) << "they take none of our slots";
}

TEST_F(DaemonTest, AClusterThatCannotBeAskedEndsNothingAndGetsNothing) {
  const auto running = enqueue("a.mrc").id;
  ticks(2);
  config_.local.slots = 2;
  restart();
  const auto waiting = enqueue("b.mrc").id;
  cluster_.complete = false;
  clock_.pass(seconds(10'000));
  ticks(5);
  EXPECT_EQ(attempt(running).state, AttemptState::kRunning);
  EXPECT_EQ(item(waiting).state, ItemState::kQueued);
  EXPECT_EQ(daemon_->status().problem, "the cluster does not answer");
  cluster_.complete = true;
  ticks(1);
  EXPECT_EQ(daemon_->status().problem, "");
  EXPECT_EQ(item(waiting).state, ItemState::kActive);
}

TEST_F(DaemonTest, AJobCountsAsVanishedOnlyAfterUnbrokenAbsence) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  const auto jobs = cluster_.jobs;
  cluster_.jobs.clear();
  clock_.pass(seconds(1));
  ticks(1);
  clock_.pass(seconds(290));
  cluster_.complete = false;  // an outage breaks the count
  ticks(1);
  cluster_.complete = true;
  clock_.pass(seconds(290));
  ticks(1);
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
  cluster_.jobs = jobs;  // it was only out of sight
  ticks(1);
  cluster_.jobs.clear();
  ticks(1);
  clock_.pass(seconds(290));
  ticks(1);
  EXPECT_THAT(attempts(id), SizeIs(1));
  clock_.pass(seconds(10));
  ticks(2);
  ASSERT_THAT(attempts(id), SizeIs(2));
  EXPECT_EQ(attempts(id)[0].state, AttemptState::kLost);
}

TEST_F(DaemonTest, AManifestCountsAlthoughTheJobVanished) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  leave_manifest(attempt(id));
  cluster_.jobs.clear();
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kDone);
}

TEST_F(DaemonTest, AScriptRunByHandIsAcceptedAsItsAttempt) {
  cluster_.faults = {Fault::kLoseRequest};
  const auto id = enqueue("a.mrc").id;
  ticks(1);
  leave_manifest(attempt(id));
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kDone);
}

TEST_F(DaemonTest, AManifestOfAnotherAttemptIsNotAccepted) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  leave_manifest(attempt(id), "margay-other-1-a1");
  cluster_.end(attempt(id).token, slurm::JobState::kCompleted, 0);
  ticks(1);
  EXPECT_FALSE(result(id));
  EXPECT_EQ(attempts(id)[0].state, AttemptState::kFailed);
  EXPECT_THAT(attempts(id)[0].message, HasSubstr("margay-other-1-a1"));
}

TEST_F(DaemonTest, LateEvidenceOfAnEndedAttemptChangesNothing) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  const auto first = attempt(id);
  cluster_.end(first.token, slurm::JobState::kNodeFail, std::nullopt);
  ticks(2);
  ASSERT_THAT(attempts(id), SizeIs(2));
  leave_manifest(first);
  ticks(2);
  EXPECT_EQ(attempts(id)[0].state, AttemptState::kFailed);
  EXPECT_FALSE(result(id));
  finish(attempt(id));
  ticks(1);
  EXPECT_EQ(result(id)->attempt_id, attempt(id).id);
}

TEST_F(DaemonTest, BadInputIsQuarantinedWithTheEnginesError) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  fail(attempt(id), 64, "10 %\nmargay-engine: 'a.mrc' is cut short\n");
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kQuarantined);
  EXPECT_EQ(attempt(id).message, "'a.mrc' is cut short");
  EXPECT_EQ(attempt(id).cause, "bad_input");
  EXPECT_EQ(attempt(id).exit_code, 64);
  ticks(5);
  EXPECT_THAT(attempts(id), SizeIs(1));
}

TEST_F(DaemonTest, AStoppedSearchResumesFromItsCheckpoint) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  std::ofstream(attempt(id).directory + "/checkpoint.mgc") << "units";
  fail(attempt(id), 85);
  ticks(2);
  ASSERT_THAT(attempts(id), SizeIs(2));
  EXPECT_EQ(attempts(id)[0].state, AttemptState::kCheckpointed);
  EXPECT_EQ(attempt(id).resume_from, attempts(id)[0].directory + "/checkpoint.mgc");
  EXPECT_THAT(attempt(id).script, HasSubstr("resume='" + attempt(id).resume_from + "'"));
  // The second stops before it has written one of its own.
  fail(attempt(id), 85);
  ticks(2);
  EXPECT_EQ(attempt(id).resume_from, attempts(id)[0].directory + "/checkpoint.mgc");
  finish(attempt(id));
  ticks(2);
  EXPECT_FALSE(std::filesystem::exists(attempts(id)[0].directory + "/checkpoint.mgc"));
}

TEST_F(DaemonTest, TooLittleDeviceMemoryMeansASmallerBatch) {
  const auto id = enqueue("a.mrc").id;
  std::vector<std::string> batches;
  for (int i = 0; i < 3; ++i) {
    ticks(2);
    const std::string& script = attempt(id).script;
    const size_t at = script.find(" batch=") + 7;
    batches.push_back(script.substr(at, script.find('\n', at) - at));
    fail(attempt(id), 71);
  }
  ticks(1);
  EXPECT_THAT(batches, ElementsAre("''", "'4'", "'1'"));
  EXPECT_EQ(item(id).state, ItemState::kFailed);
}

TEST_F(DaemonTest, AMicrographThatChangedBeforeItsRunIsQuarantined) {
  const auto id = enqueue("a.mrc").id;
  folder_.write("a.mrc", "something longer than it was");
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kQuarantined);
  EXPECT_THAT(item(id).reason, HasSubstr("changed since it was registered"));
  EXPECT_THAT(cluster_.requests, IsEmpty());
}

TEST_F(DaemonTest, AMicrographThatIsMissingIsQuarantinedAndTheOthersRun) {
  const auto gone = enqueue("a.mrc").id;
  const auto there = enqueue("b.mrc").id;
  std::filesystem::remove(folder_.file("a.mrc"));
  ticks(2);
  EXPECT_EQ(item(gone).state, ItemState::kQuarantined);
  EXPECT_THAT(item(gone).reason, HasSubstr("is missing"));
  EXPECT_EQ(item(there).state, ItemState::kActive);
}

TEST_F(DaemonTest, AMicrographWrittenDuringItsSearchIsQuarantined) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  folder_.write("a.mrc", "something longer than it was");
  finish(attempt(id));
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kQuarantined);
  EXPECT_FALSE(result(id));
}

TEST_F(DaemonTest, AMicrographMovedAwayAfterItsSearchIsNothingToUs) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  std::filesystem::remove(folder_.file("a.mrc"));
  finish(attempt(id));
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kDone);
}

TEST_F(DaemonTest, ACancelledItemEndsWhenItsJobIsGone) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  commands_->cancel(user_, id);
  ticks(1);
  EXPECT_THAT(cluster_.cancelled, Contains(attempt(id).job_id));
  EXPECT_EQ(item(id).state, ItemState::kActive);
  cluster_.end(attempt(id).token, slurm::JobState::kCancelled, 85);
  ticks(2);
  EXPECT_EQ(item(id).state, ItemState::kCancelled);
  EXPECT_EQ(attempt(id).state, AttemptState::kCancelled);
  EXPECT_THAT(attempts(id), SizeIs(1));
}

TEST_F(DaemonTest, ACancelThatMeetsALostSubmissionEndsCancelled) {
  cluster_.faults = {Fault::kLoseRequest};
  const auto id = enqueue("a.mrc").id;
  ticks(1);
  commands_->cancel(user_, id);
  ticks(20);
  EXPECT_EQ(item(id).state, ItemState::kCancelled);
  EXPECT_THAT(cluster_.requests, SizeIs(1));
}

TEST_F(DaemonTest, HeldItemsWaitUntilTheyAreReleased) {
  const auto id = enqueue("a.mrc").id;
  commands_->hold(user_, id);
  ticks(3);
  EXPECT_THAT(cluster_.requests, IsEmpty());
  commands_->release(user_, id);
  ticks(1);
  EXPECT_THAT(cluster_.requests, SizeIs(1));
}

TEST_F(DaemonTest, AnEngineThatIsMissingRestsTheLaneAndFailsNobody) {
  const auto first = enqueue("a.mrc").id;
  const auto second = enqueue("b.mrc").id;
  ticks(2);
  fail(attempt(first), 127, "/opt/margay-engine: No such file or directory\n");
  ticks(30);
  EXPECT_THAT(cluster_.requests, SizeIs(1)) << "the second must not fail the same way";
  EXPECT_THAT(daemon_->status().lane_hold, HasSubstr("cannot be launched"));
  EXPECT_EQ(item(first).state, ItemState::kQueued);
  clock_.pass(seconds(60));
  ticks(1);
  EXPECT_THAT(cluster_.requests, SizeIs(2));
  EXPECT_EQ(item(second).state, ItemState::kQueued);
}

TEST_F(DaemonTest, AFullDiskHoldsTheLaneWithOneSentenceAndLosesNothing) {
  const auto id = enqueue("a.mrc").id;
  free_bytes_ = 5'000'000;
  ticks(3);
  EXPECT_THAT(daemon_->status().lane_hold,
              testing::AllOf(HasSubstr("is full: 5.0 MB free"), HasSubstr("needs 16.8 MB")));
  EXPECT_EQ(item(id).state, ItemState::kQueued);
  EXPECT_THAT(attempts(id), IsEmpty());
  free_bytes_ = 50'000'000;
  ticks(1);
  EXPECT_EQ(daemon_->status().lane_hold, "");
  EXPECT_EQ(item(id).state, ItemState::kActive);
}

TEST_F(DaemonTest, ASearchThatFilledTheDiskIsNotHeldAgainstItsItem) {
  const auto id = enqueue("a.mrc").id;
  for (int i = 0; i < 4; ++i) {
    clock_.pass(seconds(10'000));
    ticks(2);
    ASSERT_EQ(attempt(id).state, AttemptState::kRunning);
    fail(attempt(id), 64, "margay-engine: 'mip.mrc': No space left on device\n");
    ticks(1);
    EXPECT_EQ(item(id).state, ItemState::kQueued);
    EXPECT_THAT(daemon_->status().lane_hold, HasSubstr("disk is full"));
  }
}

TEST_F(DaemonTest, AScriptTemplateWithAMisspeltNameHoldsTheLaneUntilItIsMended) {
  const auto id = enqueue("a.mrc").id;
  config_.templates = folder_.path();
  folder_.write("local.sh", "echo {{tokn}}\n");
  restart();
  ticks(2);
  EXPECT_THAT(daemon_->status().lane_hold, HasSubstr("'tokn'"));
  EXPECT_EQ(item(id).state, ItemState::kQueued);
  folder_.write("local.sh", "echo {{token}}\n");
  ticks(1);
  EXPECT_EQ(daemon_->status().lane_hold, "");
  EXPECT_EQ(item(id).state, ItemState::kActive);
}

TEST_F(DaemonTest, ARefusedJobIsTriedAgainLater) {
  cluster_.faults = {Fault::kReject};
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  EXPECT_EQ(attempts(id)[0].state, AttemptState::kRejected);
  EXPECT_THAT(daemon_->status().lane_hold, HasSubstr("no such partition"));
  clock_.pass(seconds(61));
  ticks(2);
  ASSERT_THAT(attempts(id), SizeIs(2));
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
}

TEST_F(DaemonTest, AnErrorOfOneSubmissionIsToldAndMendedLater) {
  cluster_.faults = {Fault::kThrowAfterAccepting};
  const auto id = enqueue("a.mrc").id;
  ticks(1);
  EXPECT_THAT(daemon_->status().problem, HasSubstr("connection reset"));
  ticks(2);
  EXPECT_THAT(cluster_.requests, SizeIs(1));
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
}

TEST_F(DaemonTest, OnlyWhatTheSiteKeepsRemainsOfTheMaps) {
  const auto kept = [&](ResultsKeep keep, const std::string& name) {
    config_.keep = keep;
    restart();
    const auto id = enqueue(name).id;
    ticks(2);
    finish(attempt(id));
    ticks(2);
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(attempt(id).directory)) {
      if (entry.path().extension() == ".mrc") files.insert(entry.path().filename());
    }
    EXPECT_TRUE(std::filesystem::exists(attempt(id).directory + "/peaks.csv"));
    return files;
  };
  EXPECT_THAT(kept(ResultsKeep::kAll, "a.mrc"), SizeIs(8));
  EXPECT_THAT(kept(ResultsKeep::kScores, "b.mrc"), ElementsAre("mip.mrc", "scaled_mip.mrc"));
  EXPECT_THAT(kept(ResultsKeep::kPeaks, "c.mrc"), IsEmpty());
}

TEST_F(DaemonTest, TheClusterForgetsAJobOnlyWhenItsOutcomeIsStored) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  const std::string job = attempt(id).job_id;
  finish(attempt(id));
  restart_with_crash_at("before-outcome-commit");
  EXPECT_FALSE(tick());
  EXPECT_THAT(cluster_.forgotten, IsEmpty());
  restart();
  ticks(1);
  EXPECT_THAT(cluster_.forgotten, ElementsAre(job));
}

TEST_F(DaemonTest, ARestoredBackupDoesNotRunAnAttemptNumberAgain) {
  const auto id = enqueue("a.mrc").id;
  std::filesystem::create_directories(config_.jobs() + "/" + std::to_string(id) + "/a3/claim");
  ticks(1);
  EXPECT_EQ(attempt(id).number, 4);
}

TEST_F(DaemonTest, RetryForgivesEarlierFailuresAndStartsFromTheBeginning) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  std::ofstream(attempt(id).directory + "/checkpoint.mgc") << "units";
  fail(attempt(id), 64, "margay-engine: bad\n");
  ticks(1);
  ASSERT_EQ(item(id).state, ItemState::kQuarantined);
  commands_->retry(user_, id);
  ticks(1);
  ASSERT_THAT(attempts(id), SizeIs(2));
  EXPECT_EQ(attempt(id).resume_from, "");
}

// Answers only when it is let go.
class HangingCluster : public tests::FakeCluster {
 public:
  slurm::Snapshot states() override {
    asked_.count_down();
    let_go_.wait();
    return FakeCluster::states();
  }
  void wait_until_asked() { asked_.wait(); }
  void let_go() { let_go_.count_down(); }

 private:
  std::latch asked_{1};
  std::latch let_go_{1};
};

TEST_F(DaemonTest, UsersAreAnsweredWhileTheClusterHangs) {
  HangingCluster hanging;
  Daemon daemon(config_, *database_, hanging, clock_);
  std::thread tick([&] { daemon.tick(); });
  hanging.wait_until_asked();
  // Each would wait for ever if the tick held the database.
  const auto id = enqueue("a.mrc").id;
  EXPECT_EQ(commands_->list({}).size(), 1u);
  EXPECT_EQ(commands_->show(id).item.state, ItemState::kQueued);
  EXPECT_EQ(daemon.status().items.at(ItemState::kQueued), 1);
  hanging.let_go();
  tick.join();
  EXPECT_EQ(item(id).state, ItemState::kActive);
}

TEST_F(DaemonTest, TheStatusSaysWhoRunsAndHowOldItsDataIs) {
  enqueue("a.mrc");
  enqueue("b.mrc");
  ticks(2);
  cluster_.complete = false;
  ticks(3);
  const DaemonStatus status = daemon_->status();
  EXPECT_EQ(status.instance, database_->instance());
  EXPECT_EQ(status.device_slots, 1);
  EXPECT_EQ(status.busy_slots, 1);
  EXPECT_EQ(status.ticks, 5);
  EXPECT_EQ(status.now - status.last_snapshot, 3);
  EXPECT_EQ(status.items.at(ItemState::kActive), 1);
  EXPECT_EQ(status.items.at(ItemState::kQueued), 1);
}

}  // namespace
}  // namespace scheduler

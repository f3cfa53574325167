// Attempts against the evidence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/checkpoint_text.h"
#include "scheduler/files/jobs_owner.h"
#include "tests/unit/scheduler/daemon/daemon_fixture.h"

namespace scheduler {
namespace {

using db::AttemptState;
using db::ItemState;
using std::chrono::seconds;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using Fault = tests::FakeCluster::Fault;

class DaemonTrackTest : public DaemonFixture {};

TEST_F(DaemonTrackTest, AJobCountsAsVanishedOnlyAfterUnbrokenAbsence) {
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

TEST_F(DaemonTrackTest, AManifestCountsAlthoughTheJobVanished) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  leave_manifest(attempt(id));
  cluster_.jobs.clear();
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kDone);
}

TEST_F(DaemonTrackTest, AScriptRunByHandIsAcceptedAsItsAttempt) {
  cluster_.faults = {Fault::kLoseRequest};
  const auto id = enqueue("a.mrc").id;
  ticks(1);
  leave_manifest(attempt(id));
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kDone);
}

TEST_F(DaemonTrackTest, AManifestOfAnotherAttemptIsNotAccepted) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  leave_manifest(attempt(id), "margay-other-1-a1");
  cluster_.end(attempt(id).token, slurm::JobState::kCompleted, 0);
  ticks(1);
  EXPECT_FALSE(result(id));
  EXPECT_EQ(attempts(id)[0].state, AttemptState::kFailed);
  EXPECT_THAT(attempts(id)[0].message, HasSubstr("margay-other-1-a1"));
}

TEST_F(DaemonTrackTest, LateEvidenceOfAnEndedAttemptChangesNothing) {
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

TEST_F(DaemonTrackTest, BadInputIsQuarantinedWithTheEnginesError) {
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

TEST_F(DaemonTrackTest, FilesThatAreNoneSpoilTheItemWhoseFolderHoldsThem) {
  config_.local.slots = 2;
  restart();
  const auto spoiled = enqueue("a.mrc").id;
  const auto other = enqueue("b.mrc").id;
  ticks(2);
  for (const char* name : {"manifest.json", "job.log", "failed_host", "progress.json"}) {
    const std::string path = attempt(spoiled).directory + "/" + name;
    std::filesystem::remove(path);
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  }
  cluster_.end(attempt(spoiled).token, slurm::JobState::kFailed, 70);
  finish(attempt(other));
  ticks(1);
  EXPECT_EQ(item(other).state, ItemState::kDone);
  EXPECT_EQ(attempts(spoiled)[0].state, AttemptState::kFailed);
  EXPECT_THAT(attempts(spoiled)[0].message, HasSubstr("job.log' is not a regular file"));
}

TEST_F(DaemonTrackTest, AStoppedSearchResumesFromItsCheckpoint) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  std::ofstream(attempt(id).directory + "/checkpoint.mgc") << "units";
  fail(attempt(id), 85);
  ticks(2);
  ASSERT_THAT(attempts(id), SizeIs(2));
  EXPECT_EQ(attempts(id)[0].state, AttemptState::kCheckpointed);
  EXPECT_EQ(attempt(id).resume_from, attempts(id)[0].directory + "/checkpoint.mgc");
  EXPECT_THAT(attempt(id).script, HasSubstr("--resume " + attempt(id).resume_from + " "));
  // The second stops before it has written one of its own.
  fail(attempt(id), 85);
  ticks(2);
  EXPECT_EQ(attempt(id).resume_from, attempts(id)[0].directory + "/checkpoint.mgc");
  finish(attempt(id));
  ticks(2);
  EXPECT_FALSE(std::filesystem::exists(attempts(id)[0].directory + "/checkpoint.mgc"));
}

TEST_F(DaemonTrackTest, ACheckpointThatTheEngineRefusesIsNotResumedFromAgain) {
  const auto id = enqueue("a.mrc").id;
  const auto refuse = [&](const std::string& checkpoint) {
    fail(attempt(id), 64,
         "margay-engine: " + base::checkpoint_text(checkpoint) + " is a file of another kind\n");
    ticks(2);
  };
  const auto stop_with_checkpoint = [&] {
    std::ofstream(attempt(id).directory + "/checkpoint.mgc") << "units";
    fail(attempt(id), 85);
    ticks(2);
    return attempt(id).resume_from;
  };
  ticks(2);
  const std::string oldest = stop_with_checkpoint();
  const std::string older = stop_with_checkpoint();
  ASSERT_EQ(older, attempts(id)[1].directory + "/checkpoint.mgc");
  refuse(older);
  ASSERT_THAT(attempts(id), SizeIs(4));
  EXPECT_EQ(attempts(id)[2].cause, "checkpoint");
  EXPECT_EQ(attempt(id).resume_from, oldest);
  // Its job was requeued and resumed from a checkpoint of its own.
  const std::string own = attempt(id).directory + "/checkpoint.mgc";
  std::ofstream(own) << "units";
  refuse(own);
  EXPECT_EQ(attempt(id).resume_from, oldest);
  refuse(oldest);
  ASSERT_THAT(attempts(id), SizeIs(6));
  EXPECT_EQ(attempt(id).resume_from, "");
  refuse("/elsewhere/checkpoint.mgc");
  EXPECT_EQ(item(id).state, ItemState::kQuarantined) << "the daemon did not choose that file";
}

TEST_F(DaemonTrackTest, AMicrographWrittenDuringItsSearchIsQuarantined) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  folder_.write("a.mrc", "something longer than it was");
  finish(attempt(id));
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kQuarantined);
  EXPECT_FALSE(result(id));
}

TEST_F(DaemonTrackTest, AMicrographMovedAwayAfterItsSearchIsNothingToUs) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  finish(attempt(id));
  std::filesystem::remove(folder_.file("a.mrc"));
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kDone);
}

TEST_F(DaemonTrackTest, ASearchThatFilledTheDiskIsNotHeldAgainstItsItem) {
  const auto id = enqueue("a.mrc").id;
  for (const char* why : {"No space left on device", "Disk quota exceeded"}) {
    clock_.pass(seconds(10'000));
    ticks(2);
    ASSERT_EQ(attempt(id).state, AttemptState::kRunning);
    fail(attempt(id), 64, "margay-engine: 'mip.mrc': " + std::string(why) + "\n");
    ticks(1);
    EXPECT_EQ(item(id).state, ItemState::kQueued);
    EXPECT_THAT(daemon_->status().pause_reason, HasSubstr("disk is full"));
  }
}

TEST_F(DaemonTrackTest, AGhostOfAnAttemptThatWasGivenUpIsStopped) {
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

TEST_F(DaemonTrackTest, OfTwoJobsWithOneNameTheOldestIsKept) {
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

// Its engine could not write there, and says in the exit code that its input is to blame.
TEST_F(DaemonTrackTest, AJobThatEndsWhileTheFolderOfJobsIsAwayIsJudgedOnceItIsBack) {
  const std::string jobs = config_.jobs();
  for (const int exit_code : {0, 1, 64}) {
    const auto id = enqueue(std::to_string(exit_code) + ".mrc").id;
    ticks(2);
    ASSERT_EQ(attempt(id).state, AttemptState::kRunning);
    std::filesystem::rename(jobs, jobs + ".away");
    const auto end = exit_code == 0 ? slurm::JobState::kCompleted : slurm::JobState::kFailed;
    cluster_.end(attempt(id).token, end, exit_code);
    ticks(3);
    EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
    EXPECT_THAT(daemon_->status().problem, HasSubstr("'" + jobs + "' is away: mount"));
    std::filesystem::rename(jobs + ".away", jobs);
    ticks(1);
    EXPECT_EQ(daemon_->status().problem, "");
    EXPECT_EQ(attempt(id).cause, "jobs_away");
    EXPECT_THAT(item(id).reason, HasSubstr("will be retried"));
    clock_.pass(std::chrono::hours(2));
    ticks(2);
    ASSERT_THAT(attempts(id), SizeIs(2));
    finish(attempt(id));
    ticks(1);
    EXPECT_EQ(item(id).state, ItemState::kDone);
  }
}

TEST_F(DaemonTrackTest, AResultThatWasWrittenBeforeTheFolderOfJobsWentAwayIsTaken) {
  const std::string jobs = config_.jobs();
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  finish(attempt(id));
  std::filesystem::rename(jobs, jobs + ".away");
  ticks(2);
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
  std::filesystem::rename(jobs + ".away", jobs);
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kDone);
}

}  // namespace
}  // namespace scheduler

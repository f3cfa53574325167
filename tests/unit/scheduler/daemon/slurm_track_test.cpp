// Jobs that are requeued, forgotten, orphaned or not what was asked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/scheduler/daemon/slurm_fixture.h"

namespace scheduler {
namespace {

using db::AttemptState;
using db::ItemState;
using slurm::JobState;
using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Fault = tests::FakeCluster::Fault;

class DaemonSlurmTrackTest : public SlurmFixture {
 protected:
  // An item whose job runs, and then is gone from the controller.
  int64_t enqueue_and_forget_job(JobState recorded, std::optional<int> exit_code = std::nullopt) {
    const auto id = enqueue("a.mrc").id;
    ticks(2);
    slurm::JobStatus record = job_of(id);
    record.state = recorded;
    record.exit_code = exit_code;
    cluster_.accounting.push_back(record);
    cluster_.jobs.clear();
    return id;
  }
  int commits_of_states() const {
    return static_cast<int>(std::count(reached_.begin(), reached_.end(), "before-states-commit"));
  }
};

TEST_F(DaemonSlurmTrackTest, BetweenPicturesNothingIsConcluded) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  cluster_.jobs.clear();
  for (int i = 0; i < 5; ++i) {
    clock_.pass(seconds(1000));
    tick_between_snapshots();
  }
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
  ticks(1);
  tick_between_snapshots();
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning) << "absence begins with a fresh snapshot";
  EXPECT_EQ(daemon_->status().data_age, 1);
}

TEST_F(DaemonSlurmTrackTest, LooksForAnUnansweredJobCountOnlyWithFreshPictures) {
  cluster_.faults = {Fault::kLoseRequest};
  const auto id = enqueue("a.mrc").id;
  ticks(1);
  for (int i = 0; i < 20; ++i) tick_between_snapshots();
  EXPECT_EQ(cluster_.looks_by_name, 0);
  ticks(1);
  EXPECT_EQ(attempts(id)[0].state, AttemptState::kUnknown);
  ticks(1);
  EXPECT_EQ(attempts(id)[0].state, AttemptState::kNeverStarted);
}

// The lines of the site may take minutes, and the claim comes after them. The log is there before.
TEST_F(DaemonSlurmTrackTest, AJobThatIsCancelledDuringTheLinesOfTheSiteHasBegun) {
  for (const bool has_log : {false, true}) {
    const auto id = enqueue(has_log ? "begun.mrc" : "not begun.mrc").id;
    ticks(2);
    if (has_log) std::ofstream(attempt(id).directory + "/job.log") << "loading modules\n";
    slurm::JobStatus& job = job_of(id);
    job.state = JobState::kCancelled;
    job.host = "n1";
    job.start_time = 1000;
    job.end_time = 1060;
    ticks(1);
    EXPECT_EQ(attempts(id)[0].state,
              has_log ? AttemptState::kCancelled : AttemptState::kNeverStarted);
  }
}

TEST_F(DaemonSlurmTrackTest, AccountingHasTheEndOfAJobThatTheControllerForgot) {
  const auto id = enqueue_and_forget_job(JobState::kOutOfMemory, 0);
  ticks(1);
  EXPECT_EQ(attempts(id)[0].state, AttemptState::kFailed);
  EXPECT_EQ(attempts(id)[0].cause, "memory");
}

TEST_F(DaemonSlurmTrackTest, TheNewestRecordOfARequeuedJobCounts) {
  const auto id = enqueue_and_forget_job(JobState::kNodeFail);
  slurm::JobStatus later = cluster_.accounting[0];
  later.submit_time += 100;
  later.state = JobState::kFailed;
  later.exit_code = 64;
  cluster_.accounting.insert(cluster_.accounting.begin(), later);
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kQuarantined);
}

TEST_F(DaemonSlurmTrackTest, AJobThatOnlyAccountingBelievesAliveIsLostInTheEnd) {
  const auto id = enqueue_and_forget_job(JobState::kRunning);
  ticks(1);
  clock_.pass(seconds(298));
  ticks(1);
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
  clock_.pass(seconds(2));
  ticks(1);
  EXPECT_EQ(attempts(id)[0].state, AttemptState::kLost);
}

TEST_F(DaemonSlurmTrackTest, NothingIsLostWithoutAnAnswerOfAccounting) {
  const auto id = enqueue_and_forget_job(JobState::kFailed, 64);
  cluster_.names_can_be_asked = false;
  for (int i = 0; i < 5; ++i) {
    clock_.pass(seconds(1000));
    ticks(1);
  }
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
  cluster_.names_can_be_asked = true;
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kQuarantined);
}

TEST_F(DaemonSlurmTrackTest, ARecordOfAnotherJobIsNotBelieved) {
  const auto id = enqueue_and_forget_job(JobState::kFailed, 64);
  cluster_.accounting[0].job_id = "99999";
  ticks(3);
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
}

TEST_F(DaemonSlurmTrackTest, LookupsAreSpacedAndLeaveRequestsToOthers) {
  const auto id = enqueue_and_forget_job(JobState::kRunning);
  ticks(20);
  EXPECT_EQ(cluster_.looks_by_name, 1);
  clock_.pass(seconds(60));
  ticks(1);
  EXPECT_EQ(cluster_.looks_by_name, 2);
  cluster_.counts_requests = true;
  cluster_.requests_left = 1;
  clock_.pass(seconds(1000));
  ticks(2);
  EXPECT_EQ(cluster_.looks_by_name, 2);
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
}

TEST_F(DaemonSlurmTrackTest, ARequeuedJobWaitsAgainUnderItsOwnAttempt) {
  const auto id = enqueue("a.mrc").id;
  ticks(1);
  job_of(id).start_time = 500;
  ticks(1);
  EXPECT_EQ(attempt(id).started, 500);
  job_of(id).state = JobState::kPending;
  job_of(id).host = "";
  job_of(id).restarts = 1;
  job_of(id).start_time = 9000;  // expected
  job_of(id).reason = "BeginTime";
  ticks(1);
  ASSERT_THAT(attempts(id), SizeIs(1));
  EXPECT_EQ(attempt(id).state, AttemptState::kPending);
  EXPECT_EQ(attempt(id).restarts, 1);
  EXPECT_EQ(attempt(id).host, "");
  EXPECT_EQ(attempt(id).started, 0);
  EXPECT_EQ(attempt(id).cluster_reason, "BeginTime");
  job_of(id).state = JobState::kRunning;
  job_of(id).host = "node2";
  ticks(1);
  EXPECT_EQ(attempt(id).host, "node2");
  EXPECT_EQ(attempt(id).started, 9000);
}

TEST_F(DaemonSlurmTrackTest, ARequeuedJobWhoseResultIsThereIsStopped) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  leave_manifest(attempt(id));
  ticks(2);
  ASSERT_EQ(item(id).state, ItemState::kDone);
  EXPECT_THAT(cluster_.cancelled, IsEmpty()) << "it is on its way out";
  job_of(id).restarts = 1;
  ticks(1);
  EXPECT_THAT(cluster_.cancelled, ElementsAre(attempt(id).job_id));
  EXPECT_EQ(item(id).state, ItemState::kDone);
}

TEST_F(DaemonSlurmTrackTest, AJobThatLacksItsGpusIsStoppedAndPausesSubmissions) {
  config_.slurm.shape = Shape::kNode;
  restart();
  cluster_.gpus_given = 0;
  const auto ids = enqueue_many(3);
  ticks(2);
  for (const auto id : ids) {
    EXPECT_EQ(item(id).state, ItemState::kQueued);
    EXPECT_EQ(attempt(id).cause, "configuration");
    EXPECT_THAT(cluster_.cancelled, Contains(attempt(id).job_id));
  }
  EXPECT_THAT(daemon_->status().pause_reason, HasSubstr("was to have 4 GPUs and got no GPU"));
  for (auto& job : cluster_.jobs) job.state = JobState::kCancelled;
  clock_.pass(seconds(60));
  ticks(5);
  EXPECT_THAT(cluster_.requests, SizeIs(4)) << "one tries";
  cluster_.gpus_given = 4;
  for (auto& job : cluster_.jobs) job.state = JobState::kCancelled;
  clock_.pass(seconds(120));
  ticks(3);
  EXPECT_EQ(daemon_->status().pause_reason, "");
  for (const auto id : ids) EXPECT_EQ(item(id).state, ItemState::kActive);
}

TEST_F(DaemonSlurmTrackTest, AnOrphanIsStoppedUntilItIsGoneAndLoggedOnce) {
  ticks(1);
  const std::string id = cluster_.add("margay-" + database_->instance() + "-77-a1");
  ticks(3);
  EXPECT_THAT(cluster_.cancelled, ElementsAre(id, id, id));
  EXPECT_EQ(count_logged("has no open attempt"), 1);
  EXPECT_EQ(daemon_->status().orphans, 1);
  cluster_.jobs[0].state = JobState::kCompleting;
  ticks(2);
  EXPECT_THAT(cluster_.cancelled, SizeIs(3)) << "it is on its way out";
  cluster_.jobs.clear();
  ticks(1);
  EXPECT_EQ(daemon_->status().orphans, 1);
}

TEST_F(DaemonSlurmTrackTest, ACancelIsAskedAtOnceAndThenAtEachPictureUntilTheJobEnds) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  commands_->cancel(user_, id);
  for (int i = 0; i < 3; ++i) tick_between_snapshots();
  EXPECT_THAT(cluster_.cancelled, SizeIs(1));
  ticks(1);
  EXPECT_THAT(cluster_.cancelled, SizeIs(2));
  job_of(id).state = JobState::kCompleting;
  ticks(2);
  EXPECT_THAT(cluster_.cancelled, SizeIs(2));
  cluster_.end(attempt(id).token, JobState::kCancelled, std::nullopt);
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kCancelled);
}

TEST_F(DaemonSlurmTrackTest, ACancelNeverMeetsAnotherJobWithTheSameNumber) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  cluster_.jobs[0].name = "margay-" + database_->instance() + "-somebody";
  cluster_.jobs[0].state = JobState::kCompleted;
  cluster_.jobs.push_back(cluster_.jobs[0]);
  cluster_.jobs[1].name = "another-job";
  cluster_.jobs[1].state = JobState::kRunning;
  commands_->cancel(user_, id);
  tick_between_snapshots();
  cluster_.cancelled.clear();
  ticks(3);
  EXPECT_THAT(cluster_.cancelled, IsEmpty());
}

TEST_F(DaemonSlurmTrackTest, ANewStateIsStoredOnceAndNothingIsWrittenWhileNothingChanges) {
  const auto id = enqueue("a.mrc").id;
  ticks(1);
  job_of(id).words = "PENDING";
  job_of(id).reason = "Priority";
  job_of(id).state = JobState::kPending;
  ticks(1);
  EXPECT_EQ(attempt(id).cluster_words, "PENDING");
  EXPECT_EQ(attempt(id).cluster_reason, "Priority");
  const int before = commits_of_states();
  ticks(5);
  EXPECT_EQ(commits_of_states(), before);
  job_of(id).reason = "Resources";
  ticks(5);
  EXPECT_EQ(commits_of_states(), before + 1);
  EXPECT_EQ(attempt(id).cluster_reason, "Resources");
}

TEST_F(DaemonSlurmTrackTest, AFinishedJobsManifestMayBeSeenLate) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  cluster_.end(attempt(id).token, JobState::kCompleted, 0);
  ticks(30);
  EXPECT_EQ(attempt(id).state, AttemptState::kCompleting);
  leave_manifest(attempt(id));
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kDone);
}

TEST_F(DaemonSlurmTrackTest, AFinishedJobThatLeavesNoManifestHasFailed) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  cluster_.end(attempt(id).token, JobState::kCompleted, 0);
  ticks(62);
  EXPECT_EQ(attempts(id)[0].state, AttemptState::kFailed);
  EXPECT_THAT(attempts(id)[0].message, HasSubstr("left no manifest"));
}

TEST_F(DaemonSlurmTrackTest, ASearchThatIsStoppedWithoutGettingFurtherWaitsLongerEachTime) {
  const auto id = enqueue("a.mrc").id;
  const auto stop = [&](int done) {
    std::ofstream(attempt(id).directory + "/checkpoint.mgc") << "units";
    std::ofstream(attempt(id).directory + "/progress.json") << R"({"done": )" << done << "}";
    fail(attempt(id), 85);
    ticks(1);
  };
  ticks(2);
  stop(10);
  ticks(2);
  stop(20);
  EXPECT_EQ(attempt(id).number, 3) << "it got further";
  ticks(2);
  stop(20);
  EXPECT_EQ(attempt(id).number, 4) << "once is bad luck";
  ticks(2);
  stop(20);
  EXPECT_EQ(attempt(id).number, 4);
  EXPECT_EQ(item(id).state, ItemState::kQueued);
  EXPECT_GT(item(id).not_before, clock_.now());
  clock_.pass(seconds(61));
  ticks(1);
  EXPECT_EQ(attempt(id).number, 5);
}

TEST_F(DaemonSlurmTrackTest, ATimeLimitTooShortForAnyProgressFailsInTheEndAndOneWithProgressNever) {
  config_.slurm.options = {{"time", "00:10:00"}};
  restart();
  const auto run_into_limit = [&](int64_t id, std::optional<int> done) {
    ticks(2);
    if (done) {
      std::ofstream(attempt(id).directory + "/checkpoint.mgc") << "units";
      std::ofstream(attempt(id).directory + "/progress.json") << R"({"done": )" << *done << "}";
    }
    cluster_.end(attempt(id).token, JobState::kTimeout, std::nullopt);
    ticks(1);
  };
  const auto far = enqueue("far.mrc").id;
  for (int i = 1; i <= 7; ++i) run_into_limit(far, 10 * i);
  EXPECT_EQ(item(far).state, ItemState::kActive);
  commands_->cancel(user_, far);
  const auto stuck = enqueue("stuck.mrc").id;
  for (int i = 0; i < 3; ++i) run_into_limit(stuck, std::nullopt);
  EXPECT_EQ(item(stuck).state, ItemState::kFailed);
  EXPECT_THAT(item(stuck).reason, HasSubstr("the time limit is too short for any progress"));
  EXPECT_THAT(attempt(stuck).script, HasSubstr("--time=00:22:30"));
}

TEST_F(DaemonSlurmTrackTest, StopsWithoutAnyProgressFailInTheEndAndAskForMoreTimeBefore) {
  config_.slurm.options = {{"time", "00:10:00"}};
  restart();
  const auto id = enqueue("a.mrc").id;
  for (int i = 0; i < 4; ++i) {
    ticks(2);
    clock_.pass(config_.intervals.retry_longest);
    ticks(2);
    fail(attempt(id), 85);
    ticks(1);
  }
  ASSERT_THAT(attempts(id), SizeIs(4));
  EXPECT_THAT(attempts(id)[1].script, HasSubstr("--time=00:15:00"));
  EXPECT_THAT(attempts(id)[3].script, HasSubstr("--time=00:33:45"));
  EXPECT_EQ(item(id).state, ItemState::kFailed);
  EXPECT_THAT(item(id).reason, HasSubstr("the time limit is too short for any progress"));
}

TEST_F(DaemonSlurmTrackTest, AnOutageShowsTheAgeOfTheDataAndEndsNothing) {
  const auto ids = enqueue_many(3);
  ticks(2);
  cluster_.complete = false;
  clock_.pass(seconds(100'000));
  ticks(2);
  const DaemonStatus status = daemon_->status();
  EXPECT_TRUE(status.degraded);
  EXPECT_EQ(status.data_age, 100'002);
  EXPECT_EQ(status.problem, "the cluster does not answer");
  for (const auto id : ids) EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
  cluster_.complete = true;
  ticks(1);
  EXPECT_FALSE(daemon_->status().degraded);
  EXPECT_EQ(daemon_->status().data_age, 0);
}

TEST_F(DaemonSlurmTrackTest, WithoutAnyAnswerYetTheAgeOfTheDataIsNotKnown) {
  cluster_.complete = false;
  ticks(2);
  EXPECT_EQ(daemon_->status().data_age, -1);
}

TEST_F(DaemonSlurmTrackTest, AmongManyJobsThatRunEachFolderIsLookedIntoInItsTurn) {
  config_.slurm.max_jobs = 1000;
  restart();
  const auto running = run_many(450);
  ticks(1);
  leave_manifest(running.back());
  ticks(1);
  EXPECT_EQ(item(running.back().item_id).state, ItemState::kActive);
  ticks(2);
  EXPECT_EQ(item(running.back().item_id).state, ItemState::kDone);
}

}  // namespace
}  // namespace scheduler

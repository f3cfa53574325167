// One test for each row of the table, but for those of time and memory (transition_limits_test).
#include "scheduler/states/transition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "db/attempts.h"
#include "scheduler/states/causes.h"
#include "tests/unit/scheduler/states/judged.h"

namespace scheduler {
namespace {

using db::AttemptState;
using db::ItemState;
using slurm::JobState;
using std::chrono::minutes;
using testing::HasSubstr;

db::Attempt asked_to_stop() {
  db::Attempt attempt = running_attempt();
  attempt.stop_asked = 5;
  return attempt;
}

TEST(Transition, AJobThatStoppedForAWiderOneGoesOnAtOnceAndNothingIsCounted) {
  for (const JobState state : {JobState::kFailed, JobState::kCancelled}) {
    for (const bool no_progress : {false, true}) {
      Evidence evidence = with_job(state, 85);
      evidence.no_progress = no_progress;
      const Outcome outcome =
          judge(asked_to_stop(), evidence, {{"widened", 9}, {"stopped_early", 9}}, kRules);
      EXPECT_EQ(outcome.attempt, AttemptState::kCheckpointed);
      EXPECT_EQ(outcome.item, ItemState::kQueued);
      EXPECT_EQ(outcome.wait.count(), 0);
      EXPECT_EQ(outcome.cause, "widened");
      EXPECT_THAT(outcome.reason, HasSubstr(no_progress ? "not got any further" : "resumes"));
    }
  }
}

TEST(Transition, AJobThatWasCancelledForAWiderOneIsNoFailure) {
  const Outcome outcome = judge(asked_to_stop(), with_job(JobState::kCancelled), {}, kRules);
  EXPECT_EQ(outcome.attempt, AttemptState::kCancelled);
  EXPECT_EQ(outcome.item, ItemState::kQueued);
  EXPECT_EQ(judged(with_job(JobState::kCancelled)).item, ItemState::kFailed);
}

TEST(Transition, AJobThatFailsAfterItWasAskedToStopHasFailed) {
  EXPECT_EQ(judge(asked_to_stop(), with_job(JobState::kFailed, 64), {}, kRules).item,
            ItemState::kQuarantined);
  Evidence cancelled = with_job(JobState::kFailed, 85);
  cancelled.cancel_requested = true;
  EXPECT_EQ(judge(asked_to_stop(), cancelled, {}, kRules).item, ItemState::kCancelled);
}

TEST(Transition, AJobThatRunsMakesItsAttemptRun) {
  EXPECT_EQ(judged(with_job(JobState::kPending)).attempt, AttemptState::kPending);
  EXPECT_EQ(judged(with_job(JobState::kRunning)).attempt, AttemptState::kRunning);
  EXPECT_EQ(judged(with_job(JobState::kCompleting)).attempt, AttemptState::kCompleting);
  EXPECT_FALSE(judged(with_job(JobState::kRunning)).item);
}

TEST(Transition, AnUnknownStateWordMeansAlive) {
  const Outcome outcome = judged(with_job(JobState::kUnknownAlive));
  EXPECT_EQ(outcome.attempt, AttemptState::kRunning);
  EXPECT_FALSE(outcome.item);
}

TEST(Transition, NotBeingInTheQueueIsNeverFinished) {
  const Outcome outcome = judged({});
  EXPECT_EQ(outcome.attempt, AttemptState::kRunning);
  EXPECT_FALSE(outcome.item);
}

TEST(Transition, TheManifestIsBelievedBeforeTheClustersWord) {
  for (const JobState state : {JobState::kRunning, JobState::kFailed, JobState::kNodeFail,
                               JobState::kTimeout, JobState::kCancelled}) {
    Evidence evidence = with_job(state, 1);
    evidence.manifest = ManifestWitness::kAccepted;
    EXPECT_EQ(judged(evidence).attempt, AttemptState::kDone);
    EXPECT_EQ(judged(evidence).item, ItemState::kDone);
  }
  Evidence vanished;
  vanished.vanished = true;
  vanished.manifest = ManifestWitness::kAccepted;
  EXPECT_EQ(judged(vanished).item, ItemState::kDone);
}

TEST(Transition, ExitZeroWithoutAManifestIsAFailure) {
  const Outcome outcome = judged(with_job(JobState::kCompleted, 0));
  EXPECT_EQ(outcome.attempt, AttemptState::kFailed);
  EXPECT_EQ(outcome.item, ItemState::kQueued);
  EXPECT_THAT(outcome.message, HasSubstr("no manifest"));
}

TEST(Transition, ARefusedManifestNamesWhatIsWrong) {
  Evidence evidence = with_job(JobState::kCompleted, 0);
  evidence.manifest = ManifestWitness::kRefused;
  evidence.manifest_problem = "its manifest is of attempt 'x'";
  EXPECT_EQ(judged(evidence).message, "its manifest is of attempt 'x'");
  EXPECT_THAT(judged(evidence).reason, testing::StartsWith("it failed: its manifest is of"));
}

TEST(Transition, BadInputIsQuarantinedWithItsFirstErrorAndNeverTriedAgain) {
  Evidence evidence = with_job(JobState::kFailed, 64);
  evidence.error = "'m.mrc': not an MRC file";
  const Outcome outcome = judged(evidence);
  EXPECT_EQ(outcome.cause, "bad_input");
  EXPECT_EQ(outcome.item, ItemState::kQuarantined);
  EXPECT_EQ(outcome.message, "'m.mrc': not an MRC file");
  EXPECT_THAT(outcome.reason, HasSubstr("not an MRC file"));
}

TEST(Transition, ACheckpointThatTheEngineRefusesIsNoBadInputAndIsRetriedAtOnce) {
  Evidence evidence = with_job(JobState::kFailed, 64);
  evidence.error = "checkpoint '/jobs/1/a1/checkpoint.mgc' is not one";
  evidence.checkpoint_refused = true;
  evidence.away = "'/data/m.mrc' is missing together with its folder '/data'";
  const Outcome outcome = judged(evidence, {{"checkpoint", 100}});
  EXPECT_EQ(outcome.cause, "checkpoint");
  EXPECT_EQ(outcome.item, ItemState::kQueued);
  EXPECT_EQ(outcome.wait.count(), 0);
  EXPECT_THAT(outcome.reason, HasSubstr("its checkpoint cannot be used: " + evidence.error));
  evidence.input_changed = "'m.mrc' is another file";
  EXPECT_EQ(judged(evidence).item, ItemState::kQuarantined);
}

TEST(Transition, AnInputOnAFileSystemThatIsAwayIsNoBadInput) {
  Evidence evidence = with_job(JobState::kFailed, 64);
  evidence.away = "'/data/m.mrc' is missing together with its folder '/data'";
  const Outcome outcome = judged(evidence, {{"input_away", 100}});
  EXPECT_EQ(outcome.cause, "input_away");
  EXPECT_EQ(outcome.item, ItemState::kQueued);
  EXPECT_EQ(outcome.wait, minutes(60));
  EXPECT_THAT(outcome.reason, HasSubstr("together with its folder"));
}

TEST(Transition, ACheckpointedJobGoesBackToTheQueueAndNothingIsCounted) {
  const Outcome outcome = failed(85, {{"checkpointed", 50}});
  EXPECT_EQ(outcome.attempt, AttemptState::kCheckpointed);
  EXPECT_EQ(outcome.item, ItemState::kQueued);
  EXPECT_EQ(outcome.wait.count(), 0);
}

struct RetryCase {
  const char* cause;
  Evidence evidence;
  int retries;  // -1 = without limit
  ItemState exhausted;
};

TEST(Transition, EachCauseIsRetriedAsOftenAsTheTableAllows) {
  Evidence vanished;
  vanished.vanished = true;
  Evidence full = with_job(JobState::kFailed, 1);
  full.disk_full = true;
  Evidence stuck = with_job(JobState::kTimeout);
  stuck.no_progress = true;
  const std::vector<RetryCase> table = {
      {"preempted", with_job(JobState::kPreempted), -1, ItemState::kFailed},
      {"node_failed", with_job(JobState::kNodeFail), -1, ItemState::kFailed},
      {"vanished", vanished, -1, ItemState::kFailed},
      {"disk_full", full, -1, ItemState::kFailed},
      {"hardware", with_job(JobState::kFailed, 70), 3, ItemState::kFailed},
      {"timeout", stuck, 2, ItemState::kFailed},
      {"timeout_with_progress", with_job(JobState::kTimeout), -1, ItemState::kFailed},
      {"device_memory", with_job(JobState::kFailed, 71), 2, ItemState::kFailed},
      {"memory", with_job(JobState::kOutOfMemory), 2, ItemState::kFailed},
      {"launch", with_job(JobState::kFailed, 127), 5, ItemState::kFailed},
      {"claimed", with_job(JobState::kFailed, 75), 5, ItemState::kFailed},
      {"bad_input", with_job(JobState::kFailed, 64), 0, ItemState::kQuarantined},
      {"engine_bug", with_job(JobState::kFailed, 139), 0, ItemState::kQuarantined},
      {"unknown", with_job(JobState::kFailed, 1), 1, ItemState::kFailed},
  };
  for (const RetryCase& one : table) {
    SCOPED_TRACE(one.cause);
    const int tries = one.retries < 0 ? 100 : one.retries;
    for (int earlier = 0; earlier < tries; ++earlier) {
      const Outcome outcome = judged(one.evidence, {{one.cause, earlier}});
      EXPECT_EQ(outcome.cause, one.cause);
      EXPECT_EQ(outcome.item, ItemState::kQueued);
      EXPECT_FALSE(db::is_open(outcome.attempt));
    }
    if (one.retries >= 0) {
      EXPECT_EQ(judged(one.evidence, {{one.cause, one.retries}}).item, one.exhausted);
    }
  }
}

TEST(Transition, FailuresOfOneCauseDoNotUseUpAnothersTries) {
  EXPECT_EQ(failed(70, {{"unknown", 9}, {"hardware", 2}}).item, ItemState::kQueued);
  EXPECT_EQ(failed(70, {{"hardware", 3}}).item, ItemState::kFailed);
}

TEST(Transition, RetriesMoveApartUpToALimit) {
  EXPECT_EQ(failed(127).wait, minutes(1));
  EXPECT_EQ(failed(127, {{"launch", 1}}).wait, minutes(2));
  EXPECT_EQ(failed(127, {{"launch", 4}}).wait, minutes(16));
  const auto lost = [](int earlier) {
    return judged(with_job(JobState::kNodeFail), {{"node_failed", earlier}}).wait;
  };
  EXPECT_EQ(lost(0), minutes(0)) << "the first loss is bad luck";
  EXPECT_EQ(lost(1), minutes(1));
  EXPECT_EQ(lost(2), minutes(2));
  EXPECT_EQ(lost(1000), minutes(60));
}

TEST(Transition, AJobThatVanishedIsLostAndTriedAgain) {
  Evidence evidence;
  evidence.vanished = true;
  EXPECT_EQ(judged(evidence).attempt, AttemptState::kLost);
  EXPECT_EQ(judged(evidence).item, ItemState::kQueued);
}

TEST(Transition, CancelledOnRequestOnlyWhenTheJobIsGone) {
  Evidence evidence = with_job(JobState::kRunning);
  evidence.cancel_requested = true;
  EXPECT_FALSE(judged(evidence).item);
  for (const JobState state : {JobState::kCancelled, JobState::kFailed, JobState::kNodeFail}) {
    evidence.job->state = state;
    evidence.job->exit_code = 85;
    EXPECT_EQ(judged(evidence).attempt, AttemptState::kCancelled);
    EXPECT_EQ(judged(evidence).item, ItemState::kCancelled);
  }
}

TEST(Transition, AResultThatCameBeforeTheCancelIsKept) {
  Evidence evidence = with_job(JobState::kCancelled);
  evidence.cancel_requested = true;
  evidence.manifest = ManifestWitness::kAccepted;
  EXPECT_EQ(judged(evidence).item, ItemState::kDone);
  EXPECT_THAT(judged(evidence).reason, HasSubstr("before it could be cancelled"));
}

TEST(Transition, AJobCancelledByOthersIsNotStartedAgainByItself) {
  const Outcome outcome = judged(with_job(JobState::kCancelled, 143));
  EXPECT_EQ(outcome.item, ItemState::kFailed);
  EXPECT_THAT(outcome.reason, HasSubstr("margay retry"));
}

TEST(Transition, AResultFromDataThatChangedMeanwhileIsQuarantined) {
  Evidence evidence;
  evidence.manifest = ManifestWitness::kAccepted;
  evidence.input_changed = "'m.mrc' was written again since it was registered";
  EXPECT_EQ(judged(evidence).item, ItemState::kQuarantined);
}

TEST(Transition, AnInputThatTheEngineDidNotSearchSinceItIsAnotherFileIsTheItemsFault) {
  Evidence evidence = with_job(JobState::kFailed, 64);
  evidence.error = "micrograph_path: 'm.mrc' does not have the SHA-256";
  evidence.away = "'m.mrc' is missing together with its folder";
  evidence.input_changed = "'m.mrc' is another file: `margay retry`";
  const Outcome outcome = judged(evidence);
  EXPECT_EQ(outcome.item, ItemState::kQuarantined);
  EXPECT_EQ(outcome.cause, "bad_input");
  EXPECT_EQ(outcome.reason, "bad input: 'm.mrc' is another file: `margay retry`");
  EXPECT_EQ(outcome.site_fault, SiteFault::kNone);
}

TEST(Transition, TheLoserOfTheClaimWaitsForTheWinnersResult) {
  Evidence evidence = with_job(JobState::kFailed, 75);
  evidence.claim_alive = true;
  const Outcome outcome = judged(evidence);
  EXPECT_EQ(outcome.attempt, AttemptState::kRunning);
  EXPECT_FALSE(outcome.item);
  EXPECT_THAT(outcome.message, HasSubstr("holds the claim"));
}

TEST(Transition, WhatIsNotTheItemsFaultPausesSubmissions) {
  Evidence full = with_job(JobState::kFailed, 64);
  full.disk_full = true;
  full.error = "No space left on device";
  EXPECT_THAT(judged(full).pause_reason, HasSubstr("disk is full"));
  EXPECT_THAT(failed(127).pause_reason, HasSubstr("cannot be launched"));
  EXPECT_EQ(failed(64).pause_reason, "");
}

TEST(Transition, AJobWithoutItsGpusIsTheConfigurationsFault) {
  db::Attempt attempt = running_attempt();
  attempt.gpus = 4;
  for (const JobState state : {JobState::kPending, JobState::kRunning, JobState::kFailed}) {
    Evidence evidence = with_job(state);
    evidence.job->gpus = 0;
    const Outcome outcome = judge(attempt, evidence, {{"configuration", 9}}, kRules);
    EXPECT_EQ(outcome.attempt, AttemptState::kFailed);
    EXPECT_EQ(outcome.cause, "configuration");
    EXPECT_EQ(outcome.item, ItemState::kQueued);
    EXPECT_THAT(outcome.pause_reason, HasSubstr("was to have 4 GPUs and got no GPU"));
  }
  Evidence evidence = with_job(JobState::kRunning);
  EXPECT_FALSE(judge(attempt, evidence, {}, kRules).item) << "what is not reported is not missing";
  evidence.job->gpus = 4;
  EXPECT_FALSE(judge(attempt, evidence, {}, kRules).item);
  evidence.job->gpus = 0;
  evidence.manifest = ManifestWitness::kAccepted;
  EXPECT_EQ(judge(attempt, evidence, {}, kRules).item, ItemState::kDone);
}

TEST(Transition, AManifestMayBeSeenLateOnASharedFileSystem) {
  Evidence evidence = with_job(JobState::kCompleted, 0);
  evidence.files_may_come = true;
  EXPECT_EQ(judged(evidence).attempt, AttemptState::kCompleting);
  EXPECT_FALSE(judged(evidence).item);
  evidence.manifest = ManifestWitness::kAccepted;
  EXPECT_EQ(judged(evidence).item, ItemState::kDone);
}

TEST(Transition, ASignalIsNamed) {
  EXPECT_EQ(failed(139).message, "ended by signal 11");
  Evidence evidence = with_job(JobState::kFailed);
  evidence.job->signal = 9;
  evidence.error = "m.mrc: 500 x 384 pixels";
  EXPECT_EQ(judged(evidence).message,
            "ended by signal 9; perhaps the kernel's out-of-memory killer: see dmesg");
  EXPECT_EQ(judged(evidence).cause, "unknown");
}

TEST(Transition, ASearchThatAnAdministratorCancelledStaysStoppedWithItsCheckpoint) {
  const Outcome outcome = judged(with_job(JobState::kCancelled, 85));
  EXPECT_EQ(outcome.cause, "cancelled_outside");
  EXPECT_EQ(outcome.item, ItemState::kFailed);
  EXPECT_THAT(outcome.reason, HasSubstr("checkpoint is kept"));
}

TEST(Transition, TheReasonNoneIsNotReported) {
  Evidence evidence = with_job(JobState::kPreempted);
  evidence.job->reason = "None";
  EXPECT_EQ(judged(evidence).message, "");
}

TEST(Transition, AJobThatANodeCouldNotStartIsTriedAgainAndOneThatSomebodyCancelledIsNot) {
  Evidence evidence = with_job(JobState::kCancelled);
  evidence.job->host = "n01";
  EXPECT_EQ(judged(evidence).cause, "cancelled_outside");
  EXPECT_EQ(judged(evidence).item, ItemState::kFailed);
  evidence.never_ran = true;
  EXPECT_EQ(judged(evidence).attempt, AttemptState::kNeverStarted);
  EXPECT_EQ(judged(evidence).item, ItemState::kQueued);
  EXPECT_THAT(judged(evidence).message, HasSubstr("n01"));
  // While it waited: it had no node.
  evidence.job->host = "";
  EXPECT_EQ(judged(evidence).cause, "cancelled_outside");
}

TEST(Transition, AJobThatANodeCouldNotStartAgainHasTheClaimOfItsFirstRun) {
  Evidence evidence = with_job(JobState::kCancelled);
  evidence.job->host = "n01";
  evidence.job->start_time = evidence.job->end_time = 1000;
  EXPECT_EQ(judged(evidence).attempt, AttemptState::kNeverStarted);
  evidence.job->signal = 15;
  EXPECT_EQ(judged(evidence).cause, "cancelled_outside") << "scancel's";
  evidence.job->signal.reset();
  evidence.job->exit_code = 85;
  EXPECT_EQ(judged(evidence).cause, "cancelled_outside") << "stopped with a checkpoint";
  evidence.job->exit_code.reset();
  evidence.job->end_time = 1060;
  EXPECT_EQ(judged(evidence).cause, "cancelled_outside") << "it ran for a minute";
}

}  // namespace
}  // namespace scheduler

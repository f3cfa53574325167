// The rows of the table for jobs whose time or memory did not suffice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/states/transition.h"
#include "tests/unit/scheduler/states/judged.h"

namespace scheduler {
namespace {

using db::AttemptState;
using db::ItemState;
using slurm::JobState;
using std::chrono::minutes;
using testing::HasSubstr;

TEST(TransitionLimits, AfterThreeRetriesWithoutAnyProgressTheTimeLimitIsTooShort) {
  Evidence evidence = with_job(JobState::kFailed, 85);
  evidence.no_progress = true;
  EXPECT_EQ(judged(evidence).attempt, AttemptState::kCheckpointed);
  EXPECT_EQ(judged(evidence).wait, minutes(0));
  EXPECT_EQ(judged(evidence, {{"stopped_early", 2}}).wait, minutes(2));
  EXPECT_EQ(judged(evidence, {{"stopped_early", 2}}).item, ItemState::kQueued);
  const Outcome last = judged(evidence, {{"stopped_early", 3}});
  EXPECT_EQ(last.item, ItemState::kFailed);
  EXPECT_THAT(last.reason, HasSubstr("the time limit is too short for any progress"));
}

TEST(TransitionLimits, ATimeLimitThatASearchGetsFurtherInIsRetriedWithoutEnd) {
  const Evidence further = with_job(JobState::kTimeout);
  EXPECT_EQ(judged(further, {{"timeout_with_progress", 1000}}).item, ItemState::kQueued);
  Evidence stuck = further;
  stuck.no_progress = true;
  EXPECT_EQ(judged(stuck, {{"timeout_with_progress", 1000}}).item, ItemState::kQueued);
  const Outcome last = judged(stuck, {{"timeout", 2}});
  EXPECT_EQ(last.item, ItemState::kFailed);
  EXPECT_THAT(last.reason, HasSubstr("the time limit is too short for any progress"));
}

TEST(TransitionLimits, EachTimeLimitStretchesTheNextOne) {
  EXPECT_EQ(time_factor({}), 1);
  EXPECT_EQ(time_factor({{"timeout", 1}}), 1.5);
  EXPECT_EQ(time_factor({{"timeout", 2}}), 2.25);
  EXPECT_EQ(time_factor({{"timeout", 1000}}), time_factor({{"timeout", 4}}));
  EXPECT_EQ(time_factor({{"stopped_early", 1}}), 1.5);
  EXPECT_EQ(time_factor({{"timeout_with_progress", 1}, {"stopped_early", 1}}), 2.25);
  EXPECT_EQ(time_factor({{"timeout", 2}, {"raise_refused", 1}}), 1);
}

TEST(TransitionLimits, AJobThatTheKernelKilledForWantOfMemoryIsOutOfMemory) {
  Evidence evidence = with_job(JobState::kOutOfMemory, 137);
  evidence.job->reason = "killed by the kernel, since its cgroup ran out of memory";
  EXPECT_EQ(judged(evidence).cause, "memory");
  EXPECT_EQ(judged(evidence).message, evidence.job->reason);
}

TEST(TransitionLimits, AStepThatUsedTooMuchMemoryIsKnownByItsLog) {
  Evidence evidence = with_job(JobState::kFailed, 1);
  for (const char* said : {"srun: error: n01: task 0: Out Of Memory",
                           "slurmstepd-n01: error: Detected 1 oom-kill event(s) in StepId=1.0"}) {
    evidence.error = said;
    EXPECT_EQ(judged(evidence).cause, "memory") << said;
  }
  EXPECT_EQ(judged(with_job(JobState::kFailed, 1)).cause, "unknown");
  evidence = with_job(JobState::kOutOfMemory);
  evidence.job->signal = 125;
  EXPECT_THAT(judged(evidence).message, testing::Not(HasSubstr("125")));
}

TEST(TransitionLimits, AJobThatSlurmKilledForItsMemoryRanOutOfMemoryHoweverItEnded) {
  const std::string said =
      "slurmstepd: error: StepId=7.0 exceeded memory limit (1288490188 > 1073741824), being killed";
  for (const JobState state : {JobState::kFailed, JobState::kCancelled, JobState::kOutOfMemory}) {
    Evidence evidence = with_job(state);
    evidence.job->signal = 9;
    evidence.job->host = "n1";
    evidence.memory_error = said;
    evidence.error = "srun: error: n1: task 0: Killed";
    const Outcome outcome = judged(evidence);
    EXPECT_EQ(outcome.cause, "memory");
    EXPECT_EQ(outcome.item, ItemState::kQueued);
    EXPECT_THAT(outcome.reason, HasSubstr("it ran out of memory"));
    EXPECT_EQ(outcome.message, said);
    EXPECT_EQ(judged(evidence, {{"memory", 2}}).item, ItemState::kFailed);
  }
  Evidence reason_only = with_job(JobState::kCancelled);
  reason_only.job->reason = "OutOfMemory";
  EXPECT_EQ(judged(reason_only).cause, "memory");
}

TEST(TransitionLimits, ADevicesMemoryIsNotTheMachines) {
  Evidence evidence = with_job(JobState::kFailed, 71);
  evidence.memory_error = "exceeded memory limit";
  EXPECT_EQ(judged(evidence).cause, "device_memory");
}

TEST(TransitionLimits, EachTimeThatTheMemoryDidNotSufficeTheNextJobAsksForMore) {
  EXPECT_EQ(memory_factor({}), 1);
  EXPECT_EQ(memory_factor({{"memory", 1}}), 1.5);
  EXPECT_EQ(memory_factor({{"memory", 2}, {"timeout", 1}}), 2.25);
  EXPECT_EQ(memory_factor({{"memory", 1}, {"raise_refused", 1}}), 1);
}

}  // namespace
}  // namespace scheduler

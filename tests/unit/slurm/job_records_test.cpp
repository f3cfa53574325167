#include "slurm/job_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slurm {
namespace {

using Jobs = std::vector<JobStatus>;
using testing::ElementsAre;
using testing::Field;

JobStatus job(const std::string& id, JobState state, int64_t submitted = 5, int exit_code = 0) {
  return {.job_id = id,
          .name = "margay-lab-1-a1",
          .state = state,
          .exit_code = exit_code,
          .submit_time = submitted};
}

auto is(const std::string& id, JobState state) {
  return testing::AllOf(Field(&JobStatus::job_id, id), Field(&JobStatus::state, state));
}

TEST(JobRecords, WhatTheControllerShowsAliveIsAlive) {
  EXPECT_THAT(merge_records({job("3", JobState::kRunning, 20)}, {job("3", JobState::kNodeFail)}),
              ElementsAre(is("3", JobState::kRunning)));
}

TEST(JobRecords, OfTwoEndsAccountingsCounts) {
  EXPECT_THAT(merge_records({job("3", JobState::kCompleted)}, {job("3", JobState::kTimeout)}),
              ElementsAre(is("3", JobState::kTimeout)));
}

TEST(JobRecords, TheEndOfAnEarlierRunDoesNotCount) {
  EXPECT_THAT(merge_records({job("3", JobState::kCompleted, 20)}, {job("3", JobState::kTimeout)}),
              ElementsAre(is("3", JobState::kCompleted)));
}

// slurmrestd 22.05 gives exit code 0 for every job in accounting.
TEST(JobRecords, AnEndOnWhichBothAgreeStaysAsTheControllerShowsIt) {
  const Jobs merged =
      merge_records({job("3", JobState::kFailed, 5, 3)}, {job("3", JobState::kFailed, 5, 0)});
  ASSERT_EQ(merged.size(), 1U);
  EXPECT_EQ(merged[0].exit_code, 3);
}

TEST(JobRecords, WhatTheControllerForgotIsTakenFromAccounting) {
  EXPECT_THAT(merge_records({job("5", JobState::kRunning)}, {job("3", JobState::kCancelled)}),
              ElementsAre(is("5", JobState::kRunning), is("3", JobState::kCancelled)));
}

TEST(JobRecords, WhatAControllerLostAtItsStartHasNotEnded) {
  JobStatus closed = job("3", JobState::kCancelled);
  closed.cancelled_by_nobody = true;
  EXPECT_THAT(merge_records({}, {closed}), testing::IsEmpty());
  EXPECT_THAT(merge_records({job("3", JobState::kRunning)}, {closed}),
              ElementsAre(is("3", JobState::kRunning)));
}

TEST(JobRecords, EarlierRunsCountAsRestarts) {
  Jobs jobs;
  keep_last_run(jobs, job("3", JobState::kNodeFail, 5));
  keep_last_run(jobs, job("3", JobState::kPending, 20));
  keep_last_run(jobs, job("3", JobState::kPreempted, 10));
  EXPECT_THAT(jobs, ElementsAre(is("3", JobState::kPending)));
  EXPECT_EQ(jobs[0].restarts, 2);
}

}  // namespace
}  // namespace slurm
